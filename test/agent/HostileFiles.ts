/**
 * Control files that cost a careless parser much.
 *
 * @module
 */

/** The most that a hostile file may cost, in the costs of an ordinary one of its size, which any machine pays. */
export const TIMES = 4

/** The usual size of a file, in characters. */
const SIZE = 65_536

const repeat = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length)).slice(0, size)

const head = "---\nversion: 1\n---\n## Pending Actions\n"

/** An action block with more fields. */
export const block = (id: string, fields = ""): string => `### [HIGH] n\n- **id**: ${id}\n- **type**: shell\n- **command**: x\n${fields}`

/** A file of blocks, as long as a size. */
export const many = (make: (index: number) => string, size = SIZE): string => {
  let text = head
  for (let i = 0; text.length < size; i++) text += make(i)
  return text
}

/** Texts of a size, each hostile to one part of the parser. */
export const hostile = (size = SIZE): Readonly<Record<string, string>> => {
  const fill = (text: string, most = size): string => repeat(text, Math.min(most, size))
  const blocks = (make: (index: number) => string): string => many(make, size)
  return {
    "open brackets in the frontmatter": `---\n${fill("[", 4_000)}\n---\n${fill("### [X] y\n")}`,
    "keys in keys in the frontmatter": `---\n${fill(": ", 4_000)}\n---\n`,
    "errors in the frontmatter": `---\n${fill("]\n", 4_000)}---\n`,
    "comments in the frontmatter": `---\n${fill("# x\n")}---\n`,
    "blocks without fields": blocks(() => "### [X] y\n"),
    "one line of #": head + fill("#"),
    "one heading of spaces": `${head}### ${fill(" ")}x`,
    "quotes in quotes": head + fill("> "),
    "lists in lists": head + fill(`${"- ".repeat(50)}a\n`),
    "backquotes": head + fill("`"),
    "tabs": head + fill("\t"),
    "open tags": `${head}<a${fill(" b=c")}`,
    "spaces in a tag": `${head}<a${fill(" ")}x`,
    "stars": `${head}${block("a")}- **${fill("*")}`,
    "a field without an end": `${head}${block("a")}- **${fill("a")}`,
    "fields": head + block("a") + fill("- **k**: v\n"),
    "nested items": head + block("a", "- **params**:\n") + fill("  - a: |\n      x\n"),
    "blank lines in a block": `${head}${block("a", "- **prompt**: |\n")}${fill("\n")}    x\n`,
    "a chain of dependencies": blocks((i) => block(`a${i}`, `- **depends_on**: a${i + 1}\n`)),
    "pairs of dependencies": blocks((i) => block(`a${i}`, `- **depends_on**: a${i ^ 1}\n`)),
    "unknown dependencies": blocks((i) => block(`a${i}`, `- **depends_on**: z${i}\n`)),
    "many dependencies of one action": blocks((i) => block(`a${i}`)) + block("q", `- **depends_on**: ${fill("b,", 20_000)}\n`),
    "conditions": blocks((i) => block(`a${i}`, "- **condition**: any_failed AND all_completed OR NOT weekday:mon-fri\n")),
    "zones and cron expressions": blocks((i) => block(`a${i}`, `- **schedule**: cron:${i % 60} * * * *\n- **timezone**: Asia/Tokyo\n`)),
    "unknown priorities": blocks((i) => `### [${"X".repeat(35)}] a\n- **id**: a${i}\n- **type**: shell\n- **status**: ${"z".repeat(30)}\n`),
    "carriage returns": head + fill("\r"),
    "null characters": head + fill("\u0000"),
    "half surrogates": head + fill("\ud800"),
    "references without an end": `${head}${block("a", `- **prompt**: ${fill("${output:")}\n`)}`,
    "references": `${head}${block("a", `- **prompt**: ${fill("${output:a}")}\n`)}`,
    "completed lines": `---\nversion: 1\n---\n## Completed Today\n- [x] a: ${fill("(10:00:00) ")}`
  }
}
