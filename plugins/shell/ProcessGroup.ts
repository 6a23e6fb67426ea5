/**
 * A process group: a program and all that it starts, with limits of time and output.
 *
 * The group ends as a whole: with the program, at an abort, and at the end of its time. A descendant that begins a session
 * of its own leaves the group, and is not ended; its output after the end of the program is dropped.
 *
 * @module
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import process from "node:process"
import { clearTimeout, setImmediate, setTimeout } from "node:timers"

/** The program of a group, and its limits. */
export interface Start {
  /** The absolute path of the program, and its arguments. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly folder: string
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string | Uint8Array
  /** The kept bytes of each output. */
  readonly maxBytes: number
  /** The time of the group, and the time between SIGTERM and SIGKILL, in milliseconds. */
  readonly millis: number
  readonly graceMillis: number
}

/** An output: its first bytes as text, and whether there were more. */
export interface Output {
  readonly text: string
  readonly bytes: number
  readonly isCut: boolean
}

/** The end of a program. */
export interface End {
  /** The exit code; `null` if a signal ended the program. */
  readonly code: number | null
  readonly signal: string | null
  /** Whether the time was over. */
  readonly isLate: boolean
  readonly stdout: Output
  readonly stderr: Output
}

/** Collects the first bytes of an output. The rest is read and dropped, so that the program does not wait. */
class Collector {
  private readonly decoder = new TextDecoder()
  private readonly limit: number
  private bytes = 0
  private isCut = false
  private text = ""

  constructor(limit: number) {
    this.limit = limit
  }

  add(part: Uint8Array): void {
    const kept = part.subarray(0, this.limit - this.bytes)
    this.bytes += kept.length
    if (kept.length < part.length) this.isCut = true
    this.text += this.decoder.decode(kept, { stream: true })
  }

  /** The output. Half a character at a cut is left out. */
  end(): Output {
    const rest = this.isCut ? "" : this.decoder.decode()
    return { text: this.text + rest, bytes: this.bytes, isCut: this.isCut }
  }
}

/** A running group. */
export class ProcessGroup {
  private readonly child: ChildProcessWithoutNullStreams
  private readonly graceMillis: number
  private killer: NodeJS.Timeout | undefined
  /** Whether the program has ended. */
  private isOver = false

  private constructor(child: ChildProcessWithoutNullStreams, graceMillis: number) {
    this.child = child
    this.graceMillis = graceMillis
  }

  /** Runs a program to its end. `onStart` gets the running group. Rejects with the host's error if it cannot start. */
  static run(start: Start, onStart: (group: ProcessGroup) => void): Promise<End> {
    const { args, env, folder, graceMillis, maxBytes, millis, program, stdin } = start
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd: folder, env, detached: true, shell: false, stdio: ["pipe", "pipe", "pipe"] })
      const group = new ProcessGroup(child, graceMillis)
      const [stdout, stderr] = [new Collector(maxBytes), new Collector(maxBytes)]
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        group.stop()
      }, millis)
      child.stdout.on("data", (part: Uint8Array) => stdout.add(part))
      child.stderr.on("data", (part: Uint8Array) => stderr.add(part))
      // A program may end before it has read its input.
      child.stdin.on("error", () => {})
      child.once("error", (error) => {
        clearTimeout(timer)
        group.kill()
        reject(error)
      })
      child.once("exit", () => {
        clearTimeout(timer)
        // Descendants may hold the outputs open, so they end with the program. One that left the group has the grace.
        group.end()
      })
      child.once("close", (code, signal) => {
        clearTimeout(timer)
        clearTimeout(group.killer)
        resolve({ code, signal, isLate, stdout: stdout.end(), stderr: stderr.end() })
      })
      onStart(group)
      child.stdin.end(stdin)
    })
  }

  /** Asks the group to end, and kills it after the grace. */
  stop(): void {
    this.send("SIGTERM")
    this.killer ??= setTimeout(() => this.kill(), this.graceMillis)
  }

  kill(): void {
    if (this.isOver) return
    clearTimeout(this.killer)
    this.send("SIGKILL")
  }

  /** Kills what the ended program left, and closes its outputs after the grace. */
  private end(): void {
    this.kill()
    // From now on its number can become that of another group.
    this.isOver = true
    const close = (): void => [this.child.stdin, this.child.stdout, this.child.stderr].forEach((each) => each.destroy())
    // The outputs that have arrived are read first, also on a host that is late.
    this.killer = setTimeout(() => setImmediate(close), this.graceMillis)
  }

  private send(signal: "SIGTERM" | "SIGKILL"): void {
    // Without a process there is no group, and the group 0 would be one's own.
    const { pid } = this.child
    if (this.isOver || pid === undefined || pid <= 0) return
    try {
      process.kill(-pid, signal)
    } catch {
      // The group has ended.
    }
  }
}
