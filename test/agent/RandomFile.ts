/**
 * Random control files: valid ones in many spellings, and damaged ones.
 *
 * @module
 */
import type { ControlFile } from "../../plugins/agent/document/ControlFile.ts"
import type { Change } from "../../plugins/agent/document/Edit.ts"
import * as Random from "../support/Random.ts"

type Draw = Random.Random

const pick = Random.pick

const repeat = (draw: Draw, most: number, make: (index: number) => string): ReadonlyArray<string> =>
  Array.from({ length: draw(most + 1) }, (_, i) => make(i))

const prose = [
  "Some notes of a person.", "", "", "- a list", "  - nested", "> quoted ### [HIGH] no",
  "```\n### [HIGH] in a fence\n- **id**: no\n```",
  "<!--\n### [HIGH] hidden\n-->", "    ### indented", "| a | b |", "*emphasis* and `code`", "~~~\n```\n~~~",
  "Ünïcödé ✓ 𝄞", "- [ ] a task", "\ttab"
]

const values = [
  "x", "a: b", "**bold**", "https://example.com/?a=b#c", "`code`", "echo \"hi\" # no", "ünï ✓ 𝄞", "1", "  spaced  ", "|x", "- x", ""
]

const gap = (draw: Draw): string => pick(draw, [" ", " ", "  ", "\t"])

const end = (draw: Draw): string => pick(draw, ["", "", " ", "\t"])

const field = (draw: Draw, key: string, value: string): string => {
  const indent = pick(draw, ["", "", "", " ", "  "])
  const bullet = pick(draw, ["-", "-", "-", "*", "+"])
  return `${indent}${bullet}${gap(draw)}**${key}**${pick(draw, ["", "", " "])}:${gap(draw)}${value}${end(draw)}`
}

const lines = ["    line", "      deeper", "", "    ### [HIGH] no", "    - **id**: no"]

const multiline = (draw: Draw, key: string): string =>
  [`- **${key}**: |`, ...repeat(draw, 3, () => pick(draw, lines)), "    last"].join("\n")

const nested = (draw: Draw, key: string): string =>
  [`- **${key}**:`, ...repeat(draw, 3, (i) => `  - key${i}: ${pick(draw, values)}`)].join("\n")

const block = (draw: Draw, id: string): string => {
  const known = [
    field(draw, "status", pick(draw, ["pending", "PENDING", "completed", "failed"])),
    field(draw, "schedule", pick(draw, ["every:5m", "hourly", "daily:02:00", "cron:*/5 * * * *", "startup"])),
    ...repeat(draw, 3, (i) => field(draw, `extra${i}`, pick(draw, values))),
    multiline(draw, "prompt"),
    nested(draw, "params"),
    ...repeat(draw, 2, () => pick(draw, prose.filter((text) => text !== "<!--\n### [HIGH] hidden\n-->")))
  ].filter(() => draw(4) > 0)
  return [
    `### [${pick(draw, ["CRITICAL", "HIGH", "MEDIUM", "LOW", "BG"])}] Action ${id}${pick(draw, ["", " ", " ###"])}`,
    ...Random.shuffled(draw, [field(draw, "id", id), field(draw, "type", "shell"), field(draw, "command", "true"), ...known]),
    ...repeat(draw, 2, () => "")
  ].join("\n")
}

/** A valid control file, in a random spelling: its spaces, its ends of lines, a byte order mark. */
export const valid = (draw: Draw): string => {
  const text = [
    "---",
    "version: 1",
    ...repeat(draw, 1, () => pick(draw, ["status: idle", "status:   running  # now", "status: \"idle\""])),
    ...repeat(draw, 1, () => pick(draw, ["last_wake: 2026-01-15T10:30:00Z", "last_wake:", "error_count: 3", "# a comment", "own: [1, 2]"])),
    "---",
    ...repeat(draw, 2, () => pick(draw, prose)),
    "# Heartbeat",
    ...repeat(draw, 2, () => pick(draw, prose)),
    "",
    "## Pending Actions",
    "",
    ...repeat(draw, 4, (i) => block(draw, `a${i}`)),
    ...repeat(draw, 1, () => ["## Completed Today", "", "- [x] a0: Action a0 (10:00:00)", "- [x] mine"].slice(0, 2 + draw(3)).join("\n")),
    ...repeat(draw, 1, () => "## Notes"),
    ...repeat(draw, 3, () => pick(draw, prose))
  ].join("\n")
  const whole = `${text}${pick(draw, ["\n", "\n", "", "\n\n"])}`
  return pick(draw, ["", "", "", "\ufeff"]) + whole.replaceAll("\n", pick(draw, ["\n", "\n", "\r\n"]))
}

const splinters = [
  "---", "\n", "\r", "\r\n", "```", "<!--", "-->", "## Pending Actions", "### ", "### [HIGH] x", "- **", "**:", "|", ": |", "\t", " ",
  "\u0000", "\ufeff", "&a", "*a", "[", "{", "\"", "- **id**: a0", "- **id**:", "a0", "𝄞", "\u2028", "#", "`", "~~~"
]

/** A text with some random cuts, insertions and repetitions. */
export const mutated = (draw: Draw, text: string): string => {
  let result = text
  for (let i = draw(6); i >= 0; i--) {
    const from = draw(result.length + 1)
    const to = Math.min(from + draw(draw(2) === 0 ? 4 : 60), result.length)
    const inserted = pick(draw, ["", pick(draw, splinters), pick(draw, splinters).repeat(1 + draw(4)), result.slice(from, from + draw(80))])
    result = result.slice(0, from) + inserted + result.slice(pick(draw, [from, to]))
  }
  return result.toWellFormed()
}

const scalars = ["idle", "a: b", "no", "12", "2026-01-15T10:30:00Z", "x # y", "", "\"q\"", "a\nb"]

/** Changes as an agent makes them, to actions and keys that the file has or lacks. */
export const changes = (draw: Draw, file: ControlFile): ReadonlyArray<Change> => {
  const ids = [...file.blocks.map(({ id }) => id), "absent"]
  const keys = ["status", "last_run", "result", "error", "retry_count", "extra0", "prompt", "params"]
  const value = (): string | undefined => pick(draw, [undefined, ...values, "completed", "two\nlines", "é".repeat(600)])
  return Array.from({ length: 1 + draw(5) }, (): Change => {
    const kind = draw(6)
    if (kind === 0) {
      const scalar = pick(draw, [undefined, null, 0, 1.5, true, ...scalars])
      return { kind: "frontmatter", key: pick(draw, ["status", "last_wake", "error_count", "last_error"]), value: scalar }
    }
    if (kind === 1) return { kind: "completed", id: pick(draw, ["a0", "a1"]), name: pick(draw, ["Name", "Name (x)"]), time: "11:22:33" }
    if (kind === 2 && draw(4) === 0) return { kind: "reset" }
    return { kind: "field", id: pick(draw, ids), key: pick(draw, keys), value: value() }
  })
}
