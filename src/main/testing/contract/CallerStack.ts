/**
 * The stacks of failures in tests: they begin in the code of the test, where a reader looks, and not within the runtime.
 *
 * @module
 */
import * as CallPlace from "../../guard/CallPlace.ts"

/** A frame of a stack. */
const FRAME = /^\s{1,20}at /

/** A frame that no reader looks for. */
const HOST = /\((?:node|ext|native):|at (?:async )?(?:node|ext):/

const INSPECT = Symbol.for("nodejs.util.inspect.custom")

/** The header of a stack, and its frames outside of the runtime. */
const partsOf = (stack: string): { readonly header: ReadonlyArray<string>; readonly frames: ReadonlyArray<string> } => {
  const lines = CallPlace.withoutOwn(stack).split("\n")
  return {
    header: lines.filter((line) => !FRAME.test(line)),
    frames: lines.filter((line) => FRAME.test(line) && !HOST.test(line))
  }
}

/** Gives an error a stack without frames of the runtime. Where no other frame is left, those of `caller` take their place. */
const retell = (error: unknown, caller = ""): void => {
  if (!(error instanceof Error) || !Object.isExtensible(error)) return
  const { frames, header } = partsOf(error.stack ?? "")
  error.stack = [...header, ...frames.length > 0 ? frames : partsOf(caller).frames].join("\n")
  // Effect's errors are inspected as their fields alone, without message and stack.
  if ("_tag" in error) Object.defineProperty(error, INSPECT, { value: undefined })
}

/**
 * Gives an error that is about to be thrown a stack without frames of the runtime.
 */
export const own = (error: Error): void => retell(error)

/**
 * The same promise. If it rejects, the stack of its error leads to the code that called this.
 */
export const follow = <A>(promise: Promise<A>): Promise<A> => {
  const caller: { stack?: string } = {}
  Error.captureStackTrace(caller, follow)
  promise.catch((error: unknown) => retell(error, caller.stack))
  return promise
}
