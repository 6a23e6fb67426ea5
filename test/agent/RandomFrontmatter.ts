/**
 * Random frontmatter in all styles of YAML. Each comment and each value of a person has a mark of its own.
 *
 * @module
 */
import * as Random from "../support/Random.ts"

type Draw = Random.Random

/** The keys that the agent writes. */
export const KEYS = ["status", "last_wake", "next_wake", "error_count", "last_error", "config_hash"] as const

/** A frontmatter with its marks. */
export interface RandomFrontmatter {
  readonly text: string
  /** The marks of comments, and of values that the agent does not write. */
  readonly marks: ReadonlyArray<string>
}

/** A style of a value: the lines behind the colon and below, where `pad` is the indent of lines below. */
type Style = (word: string, pad: string) => string

const plain: ReadonlyArray<Style> = [
  (word) => ` ${word}`,
  (word) => `   ${word}  `,
  (word) => ` "${word}"`,
  (word) => ` '${word}: it''s'`,
  (word) => ` "${word} \\" # no comment"`,
  (word) => ` ${word}:${word}`
]

const below: ReadonlyArray<Style> = [
  (word, pad) => ` ${word}\n${pad}more\n\n${pad}end`,
  (word, pad) => ` "${word}\n${pad}  more"`,
  (word, pad) => ` '${word}\n\n${pad}more'`,
  (word, pad) => `\n${pad}${word}`,
  (word, pad) => `\n${pad}"${word}"`,
  (word, pad) => ` >-\n${pad}${word}: a\n${pad}more`,
  (word, pad) => ` >\n${pad}${word}\n\n${pad}more\n`,
  (word, pad) => ` |\n${pad}${word}\n${pad}  more`,
  (word, pad) => ` |+\n${pad}${word}\n\n`,
  (word, pad) => ` |-\n${pad}# ${word}`,
  (word, pad) => ` |2-\n${pad}   ${word}\n${pad} more`,
  (word, pad) => `\n${pad}- ${word}\n${pad}- more`,
  (word, pad) => `\n${pad.slice(2)}- ${word}\n${pad.slice(2)}- more: yes`,
  (word, pad) => `\n${pad}a: ${word}\n${pad}b:\n${pad}  c: more`,
  (word) => ` [${word}, more]`,
  (word, pad) => ` [${word},\n${pad}more]`,
  (word) => ` {a: ${word}, b: more}`,
  (word, pad) => ` {a: ${word},\n${pad}b: more}`
]

const empty: ReadonlyArray<Style> = [() => "", () => " null", () => " ~", () => " \"\""]

const styles: ReadonlyArray<Style> = [...plain, ...below, ...empty]

/** Puts a comment behind a value on one line, or behind the mark of a block. */
const commented = (value: string, comment: string): string => {
  const [first = "", ...rest] = value.split("\n")
  if (rest.length > 0 && !/^(?: [|>][-+\d]*)?$/.test(first)) return value
  return [`${first} ${comment}`, ...rest].join("\n")
}

/** A random frontmatter that the agent may write into. */
export const make = (draw: Draw): RandomFrontmatter => {
  const marks: Array<string> = []
  const mark = (name: string): string => {
    marks.push(`${name}${marks.length}x`)
    return marks.at(-1) ?? ""
  }
  const indent = Random.pick(draw, ["", "", "", "  "])
  const comment = (): string => `# ${mark("comment")}`
  const entry = (key: string, value: string): string => {
    const name = Random.pick(draw, [key, key, `"${key}"`, `'${key}'`])
    const whole = draw(4) === 0 ? commented(value, comment()) : value
    return `${indent}${name}${Random.pick(draw, ["", "", " "])}:${whole}`
  }
  const own = KEYS.filter(() => draw(3) > 0).map((key) =>
    entry(key, key === "status" ? " idle" : Random.pick(draw, styles)("word", `${indent}  `)))
  const others = ["owner", "tags", "note"].filter(() => draw(2) === 0).map((key) => {
    const style = Random.pick(draw, [...plain, ...below])
    return entry(key, style(mark("value"), `${indent}  `))
  })
  const lines = Array.from({ length: draw(3) }, () => Random.pick(draw, ["", `${indent}${comment()}`, comment()]))
  const body = Random.shuffled(draw, [entry("version", " 1"), ...own, ...others, ...lines]).join("\n")
  const close = Random.pick(draw, ["---", "---", "--- ", "...", "...\n---", `... ${comment()}`])
  const text = `---\n${body}\n${close}\n\n# Heartbeat\n\n## Pending Actions\n\nMine.\n`
  const spelled = Random.pick(draw, ["", "", "\ufeff"]) + text.replaceAll("\n", Random.pick(draw, ["\n", "\n", "\r\n"]))
  return { text: spelled, marks: marks.filter((each) => text.includes(each)) }
}
