import { assert, describe, it } from "@effect/vitest"
import * as ReloadOutput from "../../src/cli/command/ReloadOutput.ts"

const none = { files: ["word.ts"], millis: 84, enzymes: [], nodes: [], removed: [], broken: [], mended: [], restart: [] }

describe("The output of a reload", () => {
  it("names the files, the time, and the enzymes and nodes that are swapped", () => {
    assert.deepStrictEqual(ReloadOutput.lines({ ...none, enzymes: ["say"] }), ["reloaded word.ts in 84 ms: enzyme say"])
    assert.deepStrictEqual(
      ReloadOutput.lines({ ...none, enzymes: ["say", "shout"], nodes: ["total"], removed: ["whisper"], mended: ["enzymes/say.ts"] }),
      ["reloaded word.ts in 84 ms: enzymes say, shout; node total; whisper removed; enzymes/say.ts loads again"]
    )
    const many = Array.from({ length: 12 }, (_, i) => `e${i}`)
    assert.deepStrictEqual(ReloadOutput.lines({ ...none, enzymes: many }), [
      "reloaded word.ts in 84 ms: enzymes e0, e1, e2, e3, e4, e5, e6, e7, e8, e9 and 2 more"
    ])
  })

  it("says which version of a broken module is active, and which files need a restart", () => {
    assert.deepStrictEqual(ReloadOutput.lines({ ...none, broken: ["enzymes/say.ts"], restart: ["systole.config.ts"] }), [
      "word.ts changed: enzymes/say.ts is broken, and its last version stays active",
      "systole.config.ts changed: end systole dev and start it again to use the change"
    ])
    assert.deepStrictEqual(ReloadOutput.lines({ ...none, broken: ["enzymes/a.ts", "enzymes/b.ts"] }), [
      "word.ts changed: enzymes/a.ts, enzymes/b.ts are broken, and their last versions stay active"
    ])
    assert.deepStrictEqual(ReloadOutput.lines(none), [])
  })
})
