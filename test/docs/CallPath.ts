/**
 * The functions of the product through which a call comes, read from stacks that a test takes at some of its points.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../scripts/Host.ts"

/** A function of the product: its file, from the root of the repository, and its name. */
export interface Frame {
  readonly file: string
  readonly name: string
}

/** The functions that a call passes up to a point, without those that it passed before. */
export interface Leg {
  readonly point: string
  readonly frames: ReadonlyArray<Frame>
}

/** A function at which a stack is taken. */
export interface Place {
  readonly owner: object
  readonly member: string
  /** The file of the function, if it is itself one of those that are recorded. */
  readonly file?: string
  /** Whether this call is the one. */
  readonly when?: (...args: ReadonlyArray<never>) => boolean
}

/** The most frames of a stack. */
const DEPTH = 200

/** The place of a frame in a file, with the line. */
const LINE = /(?:\(|at (?:async )?)(?:file:\/\/)?([^\s()]+\.ts)[^\s():]*:(\d+):\d+\)?$/

/** A declaration of a module, and a member of a class. */
const DECLARED = /^(?:export )?(?:default )?(?:abstract )?(?:async )?(const|function\*?|class) (\w+)/
const MEMBER = /^ {2}(?:(?:private|protected|static|override|readonly|async|get|set) )*\*?(\w+)(?:[(<]|: [^=]+ = (?:async )?\(| = )/

const linesOf = (file: string): ReadonlyArray<string> => readFileSync(join(root, file), "utf8").split("\n")

/** The function that has a line: a member of a class, or a declaration of the module. A closure belongs to the function that makes it. */
const functionAt = (lines: ReadonlyArray<string>, line: number): string | undefined => {
  let member: string | undefined
  for (let at = line - 1; at >= 0; at--) {
    const text = lines[at] ?? ""
    const [, kind, name] = DECLARED.exec(text) ?? []
    if (kind !== undefined) return kind === "class" ? member : name
    member ??= MEMBER.exec(text)?.[1]
  }
  return undefined
}

/** The functions of the product on a stack, the outermost first, each once. */
const framesOf = (stack: string): ReadonlyArray<Frame> => {
  const frames: Array<Frame> = []
  for (const text of stack.split("\n").slice(1).reverse()) {
    const [, path = "", line = ""] = LINE.exec(text) ?? []
    const file = path.startsWith(root) ? path.slice(root.length + 1) : ""
    if (!/^(?:src|plugins)\//.test(file) || file.startsWith("src/main/testing/")) continue
    const name = functionAt(linesOf(file), Number(line))
    if (name !== undefined) frames.push({ file, name })
  }
  return frames
}

const isSame = (a: Frame, b: Frame): boolean => a.file === b.file && a.name === b.name

/**
 * Takes one stack at each of its points.
 */
export class CallPath {
  private readonly stacks: Array<{ readonly point: string; readonly stack: string; readonly own: ReadonlyArray<Frame> }> = []
  private readonly undo: Array<() => void> = []

  /** Takes the present stack, unless the point has one. A run may call it: it reads no file. */
  take(point: string, own: ReadonlyArray<Frame> = []): void {
    if (this.stacks.some((taken) => taken.point === point)) return
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = DEPTH
    const { stack = "" } = new Error(point)
    Error.stackTraceLimit = stackTraceLimit
    this.stacks.push({ point, stack, own })
  }

  /** Takes the stack at the next call of a function. */
  at(point: string, { file, member, owner, when = () => true }: Place): void {
    const take = (): void => this.take(point, file === undefined ? [] : [{ file, name: member }])
    const members = owner as Record<string, (...args: ReadonlyArray<never>) => unknown>
    const before = members[member]!
    members[member] = function(this: unknown, ...args) {
      if (when(...args)) take()
      return Reflect.apply(before, this, args)
    }
    this.undo.push(() => {
      members[member] = before
    })
  }

  /** Puts the functions back, and tells the functions that were passed. Those outside of `from` are left out. */
  end(from?: Frame): ReadonlyArray<Leg> {
    for (const undo of this.undo.reverse()) undo()
    const known: Array<Frame> = []
    return this.stacks.map(({ own, point, stack }) => {
      const all = [...framesOf(stack), ...own]
      const first = from === undefined ? 0 : all.findIndex((frame) => isSame(frame, from))
      const frames: Array<Frame> = []
      for (const frame of all.slice(Math.max(0, first))) {
        if (known.some((other) => isSame(other, frame))) continue
        known.push(frame)
        frames.push(frame)
      }
      return { point, frames }
    })
  }
}
