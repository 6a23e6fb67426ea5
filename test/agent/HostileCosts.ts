/**
 * Prints the cost of each hostile control file in those of an ordinary one of its size, as JSON.
 *
 * It is a process of its own: the code that other tests had compiled, and the heap that they left, would be measured, too.
 *
 * @module
 */
import process from "node:process"
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import * as Edit from "../../plugins/agent/document/Edit.ts"
import { block, hostile, many, TIMES } from "./HostileFiles.ts"

/** The time of a round in milliseconds: the system tells the time of a thread in steps of some. */
const ROUND = 20

/** The rounds of an ordinary file, which the others are compared to. */
const WARM = 5

/** The most rounds of a file. One is enough for most. */
const MOST = 8

const changes: ReadonlyArray<Edit.Change> = [
  { kind: "reset" },
  { kind: "field", id: "a0", key: "status", value: "running" },
  { kind: "frontmatter", key: "status", value: "running" },
  { kind: "completed", id: "a0", name: "n", time: "10:00:00" }
]

/** The time for which this thread ran, in milliseconds: other work on the machine does not prolong it. */
const used = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** The cost of a file, by as many runs as a round has. */
const cost = (text: string): number => {
  const begun = used()
  let [runs, millis] = [0, 0]
  for (; millis < ROUND; runs++) {
    Edit.update(ControlFile.parse(text), changes)
    millis = used() - begun
  }
  return millis / runs
}

const ordinary = many((i) => block(`a${i}`, "- **schedule**: daily:06:00\n- **depends_on**: a0\n"))

let usual = Number.POSITIVE_INFINITY

/** The cost of a file in those of an ordinary one. Where it is high, both are measured again in turn; each counts by its fastest round. */
const times = (text: string): number => {
  // The engine compiles the code for the file first.
  cost(text)
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i === 0 || i < MOST && least >= TIMES * usual; i++) {
    if (i > 0) usual = Math.min(usual, cost(ordinary))
    least = Math.min(least, cost(text))
  }
  return least / usual
}

for (let i = 0; i < WARM; i++) usual = Math.min(usual, cost(ordinary))
console.log(JSON.stringify(Object.fromEntries(Object.entries(hostile()).map(([name, text]) => [name, times(text)]))))
