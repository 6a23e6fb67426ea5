import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { terminal } from "../cli/Terminal.ts"
import { root } from "../scripts/Host.ts"

const example = join(root, "examples", "thumbnails")
const space = "/v1/spaces/photos"
const photographs = ["blossom.jpg", "chelsea.png", "rocket.jpg"]

/** Prints each asset that is indexed. */
const witness = `export default {
  name: "witness",
  query: "/signals/db/write",
  bind: ["/data/assets"],
  run: (tx, event) => console.log(JSON.stringify({ indexed: event.target }))
}
`

/** Stores a photograph and requests its thumbnails. Returns the link of the receipt once the signal is durable. */
const post = async (url: string, name: string, more: object): Promise<string> => {
  const body = readFileSync(join(example, "photos", name))
  await fetch(`${url}${space}/blobs`, { method: "PUT", body })
  const hash = createHash("sha256").update(body).digest("hex")
  const signal = { signal: "/signals/image/thumbnail", target: `/env/fs/projects/p1/${name}`, payload: { hash }, ...more }
  const response = await fetch(`${url}${space}/signals`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(signal)
  })
  assert.strictEqual(response.status, 202)
  return response.headers.get("location")!
}

/** Waits until the index has an entry for each photograph. Returns its names. */
const indexed = async (url: string): Promise<ReadonlyArray<string>> => {
  const response = await fetch(`${url}${space}/cells/data/index/assets`, { headers: { accept: "text/event-stream" } })
  let text = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (const [, value = ""] of text.matchAll(/^event: value\ndata: (.*)\n\n/gm)) {
      const names = Object.keys(JSON.parse(value) as object)
      if (names.length === photographs.length) return names
    }
  }
  return assert.fail("the stream ended before the index was whole")
}

describe("The thumbnails example, killed during its work", () => {
  it.live("continues after a restart without a request, and handles and indexes each acknowledged photograph once", () =>
    Effect.flatMap(terminal({ "enzymes/witness.ts": witness }), ({ root, serve, write }) =>
      Effect.promise(async () => {
        const enzymes = [relative(root, join(example, "enzymes")), "enzymes"]
        write("systole.config.ts", `export default ${JSON.stringify({ enzymes, spaces: { create: "on-demand" } })}\n`)
        const first = await serve("start")
        const now = await post(first.url, photographs[0]!, {})
        // The signals are durable at once and delayed by beats, so that the kill comes between.
        const later = await Promise.all(photographs.slice(1).map((name) => post(first.url, name, { at: { beats: 5 } })))
        const { stdout } = await first.stop("SIGKILL")
        const seen = new Set([...stdout.matchAll(/"indexed":"([^"]+)"/g)].map((match) => match[1]!))
        assert.isBelow(seen.size, photographs.length)

        const second = await serve("start")
        while (seen.size < photographs.length) seen.add((await second.next() as { readonly indexed: string }).indexed)
        assert.sameMembers([...await indexed(second.url)], ["blossom", "chelsea", "rocket"])
        for (const link of [now, ...later]) {
          const receipt = await (await fetch(`${second.url}${link}`)).json() as {
            readonly status: string
            readonly handlings: ReadonlyArray<{ readonly enzyme: string; readonly outcome: string }>
          }
          assert.strictEqual(receipt.status, "handled")
          assert.deepStrictEqual(
            receipt.handlings.map(({ enzyme, outcome }) => [enzyme, outcome]).sort(),
            [["image_metadata", "ok"], ["resize_image", "ok"]]
          )
        }
        assert.strictEqual((await second.stop("SIGTERM")).stderr, "stopped\n")
      })))
})
