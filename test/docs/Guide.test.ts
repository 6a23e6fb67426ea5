import { assert, describe, it } from "@effect/vitest"
import * as Console from "./Console.ts"
import * as Pages from "./Pages.ts"
import { walk } from "./Walk.ts"

const guide = Pages.read("examples/README.md")
const chapters = Pages.sections(guide.text)

describe("The guide", () => {
  it("has a chapter for each part, and lists them", () => {
    const titles = chapters.map(([title]) => title)
    const ledgers = ["Operations", "Rendezvous", "Flows", "Mailroom"]
    const parts = ["Signals and retries", "Derived cells", ...ledgers, "Labels", "Pause and rollback", "Embedding"]
    assert.deepStrictEqual(titles.filter((title) => parts.includes(title)), parts)
    assert.deepStrictEqual([...guide.text.matchAll(/^- \[(.+?)\]\(#.+\)$/gm)].map(([, title]) => title), titles)
  })

  it.live.each(chapters)("works as it says: %s", ([, text]) => walk(text))
})

describe("A console block", () => {
  it("is read as commands with their outputs", () => {
    const commands = [{ line: "a b", exit: 3, output: "c\nd" }, { line: "e f", exit: 0, output: "" }]
    assert.deepStrictEqual(Console.parse("$ a b # exit 3\nc\nd\n$ e \\\n  f\n"), commands)
    assert.deepStrictEqual(Console.words(`a 'b "c"' "d 'e' \\"f" g\\ h x=/i`), ["a", "b \"c\"", "d 'e' \"f", "g h", "x=/i"])
  })

  it("tells an output that differs from one that fits", () => {
    assert.deepStrictEqual(Console.match("done <id>\n  …  \"x\"", "done 17\n  ship   beat 3  \"x\"\n"), { id: "17" })
    assert.isUndefined(Console.match("done", "done.\n"))
    assert.deepStrictEqual(Console.match("<a> or <a>", "1 or 1"), { a: "1" })
    assert.isUndefined(Console.match("<a> or <a>", "1 or 2"))
    assert.strictEqual(Console.filled("show <id> <other>", { id: "17" }), "show 17 <other>")
  })
})
