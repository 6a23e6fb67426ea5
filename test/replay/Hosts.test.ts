import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Inside from "../cli/Inside.ts"
import * as RowChecksums from "../../src/persistence/sql/RowChecksums.ts"
import type { Host } from "../scripts/Host.ts"
import * as Command from "../scripts/Command.ts"
import { environment } from "../scripts/Host.ts"
import { spawnSync } from "node:child_process"
import * as Trials from "../support/Trials.ts"

const hosts: ReadonlyArray<Host> = ["node", "deno", "bun"]

const enzymes = (unit: string) => `import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { Enzyme } from "systole"

export default [
  Enzyme.make({
    name: "measure",
    query: "/signals/measure/:what",
    run: (tx, event) => {
      tx.set("/data/measured/" + tx.id(), {
        what: event.params.what, chance: tx.random(), root: Math.sqrt(tx.now), third: 1 / 3, big: 10n ** 20n, at: new Date(tx.now),
        text: "é\\u{1F600}"
      })
      tx.increment("/data/count")
      tx.signal({ signal: "/signals/derive", payload: new Map([["count", tx.get("/data/count")]]) })
      tx.set("/data/newest", ["${unit}", tx.get("/data/scale/${unit}") ?? 1])
      return tx.list("/data/measured")
    }
  }),
  Enzyme.make({
    name: "derive",
    query: "/signals/derive",
    run: (tx, event) => Effect.map(Random.nextInt, (chance) => tx.set("/data/derived", [event.payload, chance]))
  }),
  Enzyme.make({ name: "fails", query: "/signals/fails", run: () => null.no }),
  Enzyme.make({ name: "leaks", query: "/signals/leaks", run: (tx) => tx.set("/data/leak", process.pid) })
]
`

/** The hosts that read what one wrote: all of them, or the others of Node and Node. */
const readersOf = (writer: Host): ReadonlyArray<Host> =>
  Trials.form<ReadonlyArray<Host>>({ short: writer === "node" ? ["deno", "bun"] : ["node"], long: hosts })

/** A project in a temporary folder, and the command line in it: on any host, or inside the process of the tests. */
const project = () => {
  const folder = mkdtempSync(join(tmpdir(), "systole-hosts-"))
  mkdirSync(join(folder, "enzymes"))
  const write = (unit: string) => writeFileSync(join(folder, "enzymes", "all.ts"), enzymes(unit))
  write("metres")
  writeFileSync(join(folder, "systole.config.ts"), `export default { spaces: { create: "on-demand" } }\n`)
  return {
    run: (host: Host, ...args: ReadonlyArray<string>) => {
      const [file, ...rest] = Command.line(host)
      const { status, stderr, stdout } = spawnSync(file, [...rest, ...args], { cwd: folder, env: environment(), encoding: "utf8" })
      return { code: status, text: stdout + stderr }
    },
    inside: async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await Inside.run(folder, args)
      return { code, text: stdout + stderr }
    },
    write,
    withdraw: () => rmSync(join(folder, "enzymes", "all.ts")),
    /** Changes the store of the space while it is closed. */
    tamper: (sql: string) => {
      const file = readdirSync(join(folder, ".data"), { recursive: true, encoding: "utf8" }).find(
        (name) => name.includes("home") && /\.(?:db|sqlite)$/.test(name)
      )!
      const database = new DatabaseSync(join(folder, ".data", file))
      database.exec(sql)
      database.close()
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

describe("A journal written on one host", () => {
  it.each(hosts)("%s: replays equal on other hosts", async (writer) => {
    const { inside, remove, run } = project()
    try {
      for (const signal of ["/signals/measure/a", "/signals/measure/b", "/signals/fails"]) {
        const posted = run(writer, "signal", "home", "--signal", signal, "--payload", `{"n":0.1,"z":-0}`, "--wait", "10")
        assert.include(posted.text, signal === "/signals/fails" ? "dead" : "handled")
      }
      for (const host of readersOf(writer)) {
        const read = (...args: ReadonlyArray<string>) => host === "node" ? inside(...args) : run(host, ...args)
        const replayed = await read("replay", "home")
        assert.strictEqual(replayed.code, 0, `${writer} to ${host}: ${replayed.text}`)
        assert.include(replayed.text, "came out the same")
        assert.strictEqual((await read("journal", "verify", "home")).code, 0)
      }
    } finally {
      remove()
    }
  })

  it("replays and is explained with the recorded code on every other, even if the files changed", async () => {
    const { inside, remove, run, withdraw, write } = project()
    try {
      for (const writer of hosts) {
        write(`${writer}_miles`)
        run(writer, "signal", "home", "--signal", "/signals/measure/a", "--wait", "10")
      }
      withdraw()
      for (const host of hosts) {
        const replayed = run(host, "replay", "home")
        assert.strictEqual(replayed.code, 0, `${host}: ${replayed.text}`)
        assert.notInclude(replayed.text, "not the code that ran then")
        const why = run(host, "why", "home", "/data/newest")
        assert.include(why.text, "read /data/scale/bun_miles", why.text)
      }
      assert.include((await inside("explain", "home", "0", "derive")).text, `"/signals/derive" does not match`)
    } finally {
      remove()
    }
  })

  it("without the recorded code exits with 6", async () => {
    const { inside, remove, tamper, withdraw } = project()
    try {
      await inside("signal", "home", "--signal", "/signals/measure/a", "--wait", "10")
      withdraw()
      const other = "export default []"
      const sum = RowChecksums.part(0, Buffer.from(other))
      const damages = [
        [`UPDATE part SET sum = ${sum}, bytes = CAST('${other}' AS BLOB)`, "is not what was kept"],
        ["DELETE FROM part; DELETE FROM blob", "is not kept"]
      ] as const
      for (const [sql, reason] of damages) {
        tamper(sql)
        const replayed = await inside("replay", "home")
        assert.strictEqual(replayed.code, 6, replayed.text)
        assert.include(replayed.text, "replay/code")
        assert.include(replayed.text, "measure, whose text /cas/")
        assert.include(replayed.text, reason)
        assert.strictEqual((await inside("journal", "verify", "home")).code, 0)
      }
    } finally {
      remove()
    }
  })

  it("with a run that depends on unrecorded input exits with 7", () => {
    const { remove, run } = project()
    try {
      run("node", "signal", "home", "--signal", "/signals/leaks", "--wait", "10")
      const replayed = run("node", "replay", "home")
      assert.strictEqual(replayed.code, 7)
      assert.include(replayed.text, "/data/leak")
      assert.include(replayed.text, "leaks")
    } finally {
      remove()
    }
  })
})
