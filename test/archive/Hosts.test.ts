import { assert, describe, it } from "@effect/vitest"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Command from "../scripts/Command.ts"
import { type Host, hosts } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

const enzymes = `import { Enzyme } from "systole"
export default [
  Enzyme.make({ name: "measure", query: "/signals/measure", run: (tx, { payload }) => {
    tx.set("/data/measured/" + tx.id(), { chance: tx.random(), third: 1 / 3, at: tx.now, text: "é\\u{1F600}", payload })
    tx.set("/data/blob", tx.blob(new Uint8Array(1000).fill(payload)))
    tx.signal({ signal: "/signals/told", space: "home", payload })
  } }),
  Enzyme.make({ name: "told", query: "/signals/told", durable: true, run: async (tx, { payload }) => {
    tx.append("/data/told", payload)
    await tx.sleep({ beats: 2 })
    tx.append("/data/slept", payload)
  } })
]
`

/** A project in a folder of its own, and the command in it on a host. */
const project = (parent: string, name: string, host: Host) => {
  const folder = join(parent, name)
  mkdirSync(join(folder, "enzymes"), { recursive: true })
  writeFileSync(join(folder, "enzymes", "all.ts"), enzymes)
  writeFileSync(join(folder, "systole.config.ts"), `export default { spaces: { create: "on-demand" } }\n`)
  const [file, ...args] = Command.line(host)
  return {
    folder,
    json: async (...more: ReadonlyArray<string>): Promise<Record<string, unknown>> => {
      const { code, output } = await run([file, ...args, ...more, "--json"], { cwd: folder })
      assert.strictEqual(code, 0, `${host} ${more.join(" ")}: ${output}`)
      return JSON.parse(output.slice(output.indexOf("{"))) as Record<string, unknown>
    }
  }
}

describe("a frame of one host", () => {
  it("N31 N32 is verified, restored and replayed on each host, with one root", async () => {
    const parent = mkdtempSync(join(tmpdir(), "systole-frame-hosts-"))
    try {
      const maker = project(parent, "maker", "node")
      for (const payload of ["1", "2"]) {
        await maker.json("signal", "home", "--signal", "/signals/measure", "--payload", payload, "--wait", "60")
      }
      const frame = join(maker.folder, "home.frame")
      const { beat, root } = await maker.json("export", "home", frame)
      const found = await Promise.all(hosts.map(async (host) => {
        const { folder, json } = project(parent, host, host)
        cpSync(frame, join(folder, "home.frame"))
        const verified = await json("frame", "verify", "home.frame", "--replay", "1000")
        const restored = await json("restore", "home.frame", "home")
        const replayed = await json("replay", "home", "--last", "1000")
        return { verified, restored: { beat: restored["beat"], root: restored["root"] }, differs: replayed["difference"] ?? null }
      }))
      for (const [i, each] of found.entries()) {
        assert.deepStrictEqual(each, { verified: found[0]?.verified, restored: { beat, root }, differs: null } as typeof each, hosts[i])
        assert.deepInclude(each.verified, { to: beat, beats: Number(beat) + 1 })
      }
    } finally {
      rmSync(parent, { recursive: true, force: true, maxRetries: 5 })
    }
  })
})
