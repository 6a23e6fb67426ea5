import { assert, describe, it } from "@effect/vitest"
import { fromMarkdown } from "mdast-util-from-markdown"
import * as Line from "../../plugins/agent/text/Line.ts"
import * as Outline from "../../plugins/agent/text/Outline.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

/** The headings of our scan: level and line. */
const scanned = (text: string): ReadonlyArray<string> =>
  Outline.scan(text, Line.split(text), 0).headings.map(({ level, line }) => `${level} in line ${line + 1}`)

/** The ATX headings at column 0 that the oracle, a parser of CommonMark, finds. A setext heading has two lines. */
const oracle = (text: string): ReadonlyArray<string> =>
  fromMarkdown(text).children.flatMap((node) => {
    const { end, start } = node.position ?? {}
    if (node.type !== "heading" || start?.column !== 1 || start.line !== end?.line) return []
    return [`${node.depth} in line ${start.line}`]
  })

const agrees = (text: string): void => assert.deepStrictEqual(scanned(text), oracle(text), JSON.stringify(text))

const pieces = [
  "# One", "## Two ##", "### [HIGH] Three", "#### Four", "####### Seven", "#", "#no", " # indented", "  ## two", "    # code", "\t# tab",
  "```", "````", "~~~", "~~~~", "```js", "``` x ` y", "  ```", "   ~~~", "    ```", "~~~ a ~~~",
  "- item", "* item", "+ item", "1. one", "2) two", "10. ten", "-", "- ", "-     code", "  - nested", "    - deep", "- ```", "- # heading",
  "> quote", ">", "> ```", "> - item", "> # heading", ">~~~", "text", "  text", "    text", "\ttext", "", "", "", "   ",
  "<!--", "-->", "<!-- one -->", "<div>", "</div>", "<p>text", "<script>", "a</script>", "<?php", "?>",
  "<!DOCTYPE", ">", "<![CDATA[", "]]>", "<pre", "---", "***", "- - -", "===", "--", "* * *", "- **id**: a", "  - k: v", "  ### no",
  "text <!-- not", "\\# no", "`code`", "`` ` ``", "&#35; no", "1.", "- - a", "- > b", "> > c", "   > d", "    > e", "<a", "<table", "|a|b|"
]

describe("Outline", () => {
  it.each([
    ["a fence at the top hides headings", "```\n# a\n```\n# b"],
    ["a fence of four marks ends with four", "````\n```\n# a\n````\n# b"],
    ["tildes do not end backticks", "```\n~~~\n# a\n```\n# b"],
    ["a fence in an item ends with the item", "- a\n  ```\n  # b\n# c"],
    ["a fence behind a lazy line belongs to the item", "- a\nlazy\n  ```\n# c"],
    ["a comment hides headings", "<!--\n# a\n\n# b\n-->\n# c"],
    ["a block of HTML ends with a blank line", "<div>\n# a\n\n# b"],
    ["a complete tag of any name begins a block", "<x-y a=\"b\">\n# a\n\n# b\n</x>\n# c"],
    ["a complete tag does not end a paragraph", "text\n<x-y>\n# a"],
    ["an indented item has the indent of its text", "  - a\n  ```\n# b"],
    ["a fence that never ends hides all", "# a\n~~~\n# b"],
    ["an item without a text ends with a blank line", "-\n\n  ```\n# a\n"],
    ["an indented heading is none here", " # a\n# b"],
    ["CRLF and CR end lines", "# a\r\n```\r\n# b\r\n```\r\n# c\r# d"]
  ])("agrees with CommonMark: %s", (_, text) => agrees(text))

  it("agrees with CommonMark on random lines", () => {
    for (const seed of Trials.seeds(20_000, { least: 2_000 })) {
      const draw = Random.make(seed)
      agrees(Array.from({ length: 1 + draw(12) }, () => Random.pick(draw, pieces)).join("\n"))
    }
  })
})
