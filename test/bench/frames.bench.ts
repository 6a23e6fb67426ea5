/**
 * The export of a large space while 1,000 signals a second run in it, and without them, beside SQLite's own backup of the same store.
 * `--size MIB` is that of the frame, 1,024 without it.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { command, current, environment } from "../scripts/Host.ts"
import type { Bench, Round } from "./Bench.ts"
import type { Report } from "./FrameExport.ts"

const RATE = 1000
const size = Number(process.env["SYSTOLE_BENCH_SIZE"] ?? 1024)
const folder = mkdtempSync(join(tmpdir(), "systole-frames-"))

const run = (...args: ReadonlyArray<string>): string => {
  const [file, ...before] = command(current(), fileURLToPath(new URL("./FrameExport.ts", import.meta.url)))
  return execFileSync(file, [...before, folder, ...args], { env: environment(), encoding: "utf8" })
}

let report: Report | undefined

/** One figure of the process, which runs once for all figures. */
const figure = (of: (report: Report) => number): Round => () => {
  if (report === undefined) {
    run("fill", String(size))
    report = JSON.parse(run("export", String(RATE))) as Report
  }
  return of(report)
}

const once = { rounds: 1, warm: 0 }
const alone = { ...once, baseline: "export" }
const MIB = 1_048_576

export default {
  cases: [
    {
      ...once,
      name: "speed",
      unit: "MB/s",
      baseline: "SQLite's backup",
      contenders: {
        "SQLite's backup": figure(({ sqlite }) => sqlite / 1e6),
        "export alone": figure(({ alone }) => alone / 1e6),
        "export beside signals": figure(({ meanwhile }) => meanwhile / 1e6),
        restore: figure(({ restore }) => restore / 1e6)
      }
    },
    {
      ...once,
      name: "99 % of the signals are handled after",
      unit: "ms",
      baseline: "no export",
      contenders: { "no export": figure(({ quiet }) => quiet), "an export": figure(({ during }) => during) }
    },
    {
      ...once,
      name: "a step of the export",
      unit: "ms",
      baseline: "longest",
      contenders: { longest: figure(({ step }) => step), "of 1,000": figure(({ usual }) => usual) }
    },
    { ...alone, name: "handled during the export", unit: "signals/s", contenders: { export: figure(({ rate }) => rate) } },
    { ...alone, name: "memory of the export", unit: "MiB", contenders: { export: figure(({ memory }) => memory / MIB) } },
    { ...alone, name: "frame", unit: "MiB", contenders: { export: figure(({ bytes }) => bytes / MIB) } }
  ],
  note: "At least 50 MB/s alone, 20 beside signals and 25 for the restore; at most twice the time of a signal and 5 ms more; " +
    "steps of at most 1 ms; " +
    "at most 64 MiB of memory.",
  close: () => rmSync(folder, { recursive: true, force: true })
} satisfies Bench
