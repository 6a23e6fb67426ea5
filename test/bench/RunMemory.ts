/**
 * The memory of 100,000 durable runs that wait, after their start and after an opening of their space. They are evicted,
 * and those that get their signal come back from their logs.
 *
 * @module
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { command, current, environment } from "../scripts/Host.ts"
import type { Case } from "./Bench.ts"
import type { Report } from "./ManyRuns.ts"

const RUNS = 100_000

/** The most bytes of memory of each run. */
const LIMIT = 1024

const folder = mkdtempSync(join(tmpdir(), "systole-runs-"))

const run = (phase: "make" | "open"): Report => {
  const [file, ...args] = command(current(), fileURLToPath(new URL("./ManyRuns.ts", import.meta.url)))
  return JSON.parse(execFileSync(file, [...args, folder, phase, String(RUNS)], { env: environment(), encoding: "utf8" })) as Report
}

let reports: Readonly<Record<"made" | "opened", Report>> | undefined

/** The reports of both processes, which run once, one after the other. */
const measured = () => reports ??= { made: run("make"), opened: run("open") }

/** Each figure has the limit as its baseline, so its ratio is at most 1. */
export const runMemory: Case = {
  name: "memory of a waiting run, of 100,000",
  unit: "bytes",
  baseline: "limit",
  rounds: 1,
  warm: 0,
  contenders: {
    limit: () => LIMIT,
    started: () => measured().made.bytes,
    opened: () => measured().opened.bytes
  }
}

/** The runs that ended after their signals came, of 1,000. */
export const runsBack: Case = {
  name: "waiting runs that came back from their logs",
  unit: "runs",
  baseline: "expected",
  rounds: 1,
  warm: 0,
  contenders: { expected: () => 1000, opened: () => measured().opened.ended }
}

/** Removes the store of the runs. */
export const close = (): void => rmSync(folder, { recursive: true, force: true })
