/**
 * The cost of idle spaces: 10,000 spaces with a limit of 1,000 open ones, compared
 * with 1,000 spaces. Each figure is of a process that starts over them and sends one
 * request to each. Every hundredth space has pending work at the start.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { command, current, environment } from "../scripts/Host.ts"
import type { Bench, Case, Round } from "./Bench.ts"
import type { Report } from "./ManySpaces.ts"

const OPEN = 1000
/** The heap of a machine with 512 MiB. With more memory, Node delays the collection of closed spaces. */
const HEAP = "--max-old-space-size=192 --max-semi-space-size=4"
const sizes = [1000, 10_000]
const folder = mkdtempSync(join(tmpdir(), "systole-spaces-"))

const run = (phase: string, count: number): string => {
  const [file, ...args] = command(current(), fileURLToPath(new URL("./ManySpaces.ts", import.meta.url)))
  return execFileSync(file, [...args, join(folder, String(count)), phase, String(count), String(OPEN)], {
    env: { ...environment(), NODE_OPTIONS: HEAP },
    encoding: "utf8"
  })
}

const reports = new Map<number, Report>()

/** One figure of the process over `count` spaces. The process runs once for all figures. */
const figure = (count: number, of: (report: Report) => number): Round => () => {
  let report = reports.get(count)
  if (report === undefined) {
    run("make", count)
    report = JSON.parse(run("start", count)) as Report
    reports.set(count, report)
  }
  return of(report)
}

const compared = (name: string, unit: string, of: (report: Report, count: number) => number): Case => ({
  name,
  unit,
  baseline: `${sizes[0]} spaces`,
  contenders: Object.fromEntries(sizes.map((count) => [`${count} spaces`, figure(count, (report) => of(report, count))])),
  rounds: 1,
  warm: 0
})

export default {
  cases: [
    compared("first answer after a start", "ms", ({ first }) => first),
    compared("one request of a space, opened where it is closed", "ms", ({ all }, count) => all / count),
    compared("memory at most", "MiB", ({ memory }) => memory / 1_048_576),
    compared("descriptors at most", "descriptors", ({ descriptors }) => descriptors),
    compared("spaces that were woken at their moment", "spaces", ({ woken }) => woken)
  ],
  note: `At most ${OPEN} spaces are open, and Node has ${HEAP}. The first answer counts from the start of the process.`,
  close: () => rmSync(folder, { recursive: true, force: true })
} satisfies Bench
