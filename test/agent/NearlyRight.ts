/**
 * Random action blocks as people write them: nearly right. Each line is known as read, as prose, or as one to tell.
 *
 * @module
 */
import * as Random from "../support/Random.ts"

/** The parts of a block: its lines, and whether a person has to be told of each part. */
interface Part {
  readonly lines: ReadonlyArray<string>
  readonly isTold: boolean
}

const told = (...lines: ReadonlyArray<string>): Part => ({ lines, isTold: true })
const fine = (...lines: ReadonlyArray<string>): Part => ({ lines, isTold: false })

/** Fields that an action reads, and the values of them. */
const known: ReadonlyArray<readonly [string, string]> = [
  ["schedule", "daily:02:00"], ["condition", "env_set:HOME"], ["retry", "3"], ["timeout", "30s"], ["depends_on", "other"],
  ["on_failure", "other"], ["working_dir", "/srv"], ["output_file", "out.txt"], ["capture_output", "true"], ["timezone", "Europe/Vienna"]
]

/** Names that are nearly those of fields, and names of other tools. */
const misspelt = [
  "shedule", "schedul", "scheduel", "shcedule", "Schedules", "condtion", "conditon", "depend_on", "depends-on", "dependsOn", "Depends On",
  "time-out", "timout", "tiemout", "retries", "on-failure", "onfailure", "workingdir", "working_directory", "cwd",
  "output-file", "outputfile", "captureoutput", "time_zone", "timezon", "sched\u200bule", "cron", "every", "when", "if", "needs", "after",
  "enabled", "environment", "enviroment", "priority"
]

const spellings: ReadonlyArray<(key: string, value: string) => string> = [
  (key, value) => `- [ ] **${key}**: ${value}`,
  (key, value) => `- [x] **${key}**: ${value}`,
  (key, value) => `- **${key}**\uff1a${value}`,
  (key, value) => `- **${key}\uff1a** ${value}`,
  (key, value) => `- ${key}: ${value}`,
  (key, value) => `* ${key}: ${value}`,
  (key, value) => `- **${key}** ${value}`,
  (key, value) => `- **${key}** = ${value}`,
  (key, value) => `-**${key}**: ${value}`,
  (key, value) => `-\u00a0**${key}**: ${value}`,
  (key, value) => `1. **${key}**: ${value}`,
  (key, value) => `**${key}**: ${value}`,
  (key, value) => `- __${key}__: ${value}`,
  (key, value) => `- *${key}*: ${value}`,
  (key, value) => `- \`${key}\`: ${value}`,
  (key, value) => `\u2022 **${key}**: ${value}`,
  (key, value) => `\u2013 **${key}**: ${value}`,
  (key, value) => `${key}: ${value}`,
  (key, value) => `| ${key}: | ${value} |`
]

/** Tables and lists whose entries stand in a wrong form. */
const nested: ReadonlyArray<Part> = [
  told("- **env**:", "  - **MODE**: full"),
  told("- **env**:", "  - MODE=full"),
  told("- **env**: MODE=full"),
  told("- **env**:", "  MODE: full"),
  told("- **env**:", "    MODE: full"),
  told("- **env**:", "  - MODE: full", "    - deeper: x"),
  told("- **env**:", " - MODE: full"),
  told("- **env**:", "- MODE: full"),
  told("- **params**:", "  - working_dri: /srv"),
  told("- **params**:", "  - schedule: every:5m"),
  told("- **params**:", "  - \"working_dir\": /srv"),
  told("- **depends_on**: other", "  - third"),
  told("- **schedule**:", "  - every:5m"),
  told("- **schedule**:", "  every:5m"),
  told("- **schedule**: every:5m", "  timezone: UTC"),
  told("- **timeout**:", "    - 30s"),
  told("- **condition**: |", "env_set:HOME"),
  told("- **condition**: >", "    env_set:HOME"),
  told("- **condition**: env_set:HOME", "  AND env_set:PATH"),
  told("  ### [HIGH] Another"),
  told("###[HIGH] Another"),
  told("**[HIGH] Another**")
]

const right: ReadonlyArray<Part> = [
  fine("- **env**:", "\t- MODE: full"),
  fine("- **env**:", "  - MODE: full", "", "  - LEVEL: 2"),
  fine("- **params**:", "  - working_dir: /srv"),
  fine("- **condition**: |", "    env_set:HOME", "    AND env_set:PATH"),
  fine("- **condition**: |", "\tenv_set:HOME", "\tenv_set:PATH"),
  fine("- **condition**:", "  - env_set:HOME", "  - env_set:PATH"),
  fine("- **depends_on**:", "  - other", "  - third"),
  fine("- **owner**: ann"),
  fine("- **description**: it saves all", "  the data"),
  fine("- **result**: a long line that", "  a formatter has folded")
]

/** Texts of which none is meant as a field. */
const prose: ReadonlyArray<Part> = [
  fine("This runs at night."), fine("Note: ask Ann before a change."), fine("> - **schedule**: never"), fine("", "Two paragraphs.", ""),
  fine("```", "- **command**: rm -rf data", "```"),
  fine("- An example:", "  ```", "  - **command**: rm -rf data", "  - schedule: daily", "  ```"),
  fine("<!-- - **schedule**: old -->"), fine("<!--", "- **schedule**: old", "-->"), fine("- an item", "- another: one"),
  fine("| a | b |", "|---|---|", "| 1 | 2 |"), fine("See https://example.com/schedule: it is long."),
  fine("- Old:", "  <!--", "  - **schedule**: old", "  -->")
]

/** A block with a random choice of parts. `isTold` tells whether an issue of the block is due. */
export interface NearlyRight {
  readonly text: string
  readonly isTold: boolean
}

const partOf = (draw: Random.Random): Part => {
  const kind = draw(6)
  const [key, value] = Random.pick(draw, known)
  if (kind === 0) return told(`- **${Random.pick(draw, misspelt)}**: ${value}`)
  if (kind === 1) return told(Random.pick(draw, spellings)(key, value))
  if (kind === 2) return Random.pick(draw, nested)
  if (kind === 3) return Random.pick(draw, right)
  return Random.pick(draw, prose)
}

/** The parts that a block may have each for itself. */
export const parts: ReadonlyArray<Part> = [
  ...misspelt.map((name) => told(`- **${name}**: x`)),
  ...spellings.flatMap((spell) => known.map(([key, value]) => told(spell(key, value)))),
  ...nested, ...right, ...prose
]

/** A file with a block that has some parts, and the actions to which they refer. */
export const fileOf = (all: ReadonlyArray<Part>): string => [
  "---", "version: 1", "status: idle", "---", "", "# Heartbeat", "", "## Pending Actions", "",
  "### [HIGH] First", "- **id**: first", "- **type**: shell", "- **command**: echo first",
  ...all.flatMap(({ lines }) => [...lines, ""]), "",
  ...["other", "third"].flatMap((id) => [`### [LOW] ${id}`, `- **id**: ${id}`, "- **type**: shell", "- **command**: true", ""])
].join("\n")

/** A random file. A kind of field occurs once, because a repeated one is told, too. */
export const make = (draw: Random.Random): NearlyRight => {
  const all = Array.from({ length: 1 + draw(3) }, () => partOf(draw))
  const keysOf = ({ lines }: Part) => [...new Set(lines.flatMap((line) => /^- \*\*(\w+)\*\*:/.exec(line)?.[1] ?? []))]
  const keys = all.filter((part) => !prose.includes(part)).flatMap(keysOf)
  const isRepeated = new Set(keys).size < keys.length
  return { text: fileOf(all), isTold: isRepeated || all.some((part) => part.isTold) }
}
