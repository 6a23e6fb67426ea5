/**
 * A pool of worker threads that call the functions of one module.
 *
 * A thread executes one call at a time. An abort ends the thread of its call, and a later call starts another.
 *
 * @module
 */
import { Worker } from "node:worker_threads"

/** A call of a function. */
export interface Call {
  readonly fn: string
  readonly input: unknown
  /** The second argument of the function. */
  readonly context: unknown
}

/** The kind of a failure: of the input, the function, its throw, its value, or the thread. */
export type Failure = "input" | "absent" | "thrown" | "value" | "ended"

/** The answer of a thread: a value, or a failure with its kind. */
export type Answer =
  | { readonly value: unknown }
  | { readonly failure: Failure; readonly message: string }

/** The longest message of a failure, in characters. */
const MESSAGE = 1000

/**
 * The program of a thread. It is a text, because a bundled plugin has no second file. An eval thread is a script, so it
 * imports by calls.
 */
const PROGRAM = `
(async () => {
  const { parentPort, workerData } = await import("node:worker_threads")
  const said = (error) => String(error instanceof Error ? error.message : error).slice(0, ${MESSAGE})
  const loaded = import(workerData).then((module) => ({ module }), (error) => ({ error }))
  const answer = async ({ context, fn, input }) => {
    const { error, module } = await loaded
    if (module === undefined) return { failure: "absent", message: "the module does not load: " + said(error) }
    const own = Object.hasOwn(module, fn) ? module[fn] : undefined
    if (typeof own !== "function") {
      const names = Object.keys(module).join(", ").slice(0, ${MESSAGE})
      return { failure: "absent", message: "the module exports no such function; its exports are " + names }
    }
    try {
      return { value: await own(input, context) }
    } catch (error) {
      return { failure: "thrown", message: said(error) }
    }
  }
  parentPort.on("message", async (call) => {
    const result = await answer(call)
    try {
      parentPort.postMessage(result)
    } catch (error) {
      parentPort.postMessage({ failure: "value", message: said(error) })
    }
  })
})()
`

const messageOf = (error: unknown): string => String(error instanceof Error ? error.message : error).slice(0, MESSAGE)

/** The idle threads of a module. */
export class ThreadPool {
  private readonly module: string
  private readonly memoryMiB: number
  private readonly idle: Array<Worker> = []
  private readonly all = new Set<Worker>()
  private isClosed = false

  /** `module` is the URL of the module, and `memoryMiB` the heap of a thread on Node. */
  constructor(module: string, memoryMiB: number) {
    this.module = module
    this.memoryMiB = memoryMiB
  }

  /** Calls a function on an idle thread or on a new one. Rejects with the reason of an abort. */
  call(call: Call, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const thread = this.idle.pop() ?? this.start()
      const end = (isIdle: boolean): Promise<unknown> | undefined => {
        signal.removeEventListener("abort", abort)
        thread.off("message", heard)
        thread.off("error", failed)
        thread.off("exit", ended)
        if (!isIdle || this.isClosed) return this.stop(thread)
        this.idle.push(thread)
        return undefined
      }
      // The place of the call is free when its thread has ended.
      const abort = (): void => void end(false)?.then(() => reject(signal.reason))
      const heard = (answer: Answer): void => {
        end(true)
        resolve(answer)
      }
      const failed = (error: unknown): void => {
        end(false)
        resolve({ failure: "ended", message: messageOf(error) })
      }
      const ended = (code: number): void => {
        end(false)
        resolve({ failure: "ended", message: `it exited with code ${code}` })
      }
      signal.addEventListener("abort", abort, { once: true })
      thread.on("message", heard)
      thread.on("error", failed)
      thread.on("exit", ended)
      try {
        thread.postMessage(call)
      } catch (error) {
        end(true)
        resolve({ failure: "input", message: messageOf(error) })
      }
    })
  }

  /** Ends all threads, also those that are ending. */
  async close(): Promise<void> {
    this.isClosed = true
    this.idle.length = 0
    await Promise.all([...this.all].map((thread) => thread.terminate()))
  }

  private start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: this.memoryMiB }
    const thread = new Worker(PROGRAM, { eval: true, workerData: this.module, resourceLimits })
    thread.unref()
    // An idle thread may end, too. Without a listener its error would end the process.
    thread.on("error", () => void this.stop(thread))
    thread.on("exit", () => {
      this.retire(thread)
      this.all.delete(thread)
    })
    this.all.add(thread)
    return thread
  }

  private retire(thread: Worker): void {
    const at = this.idle.indexOf(thread)
    if (at >= 0) this.idle.splice(at, 1)
  }

  private stop(thread: Worker): Promise<unknown> {
    this.retire(thread)
    return thread.terminate()
  }
}
