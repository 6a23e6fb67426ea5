/**
 * The refusal of a frame.
 *
 * @module
 */
import * as Data from "effect/Data"

/** The reasons for a refusal, each with its remedy. */
const REASONS = {
  "frame/magic": "This is no frame. Give a file that systole export or systole backup wrote",
  "frame/unknown": "A newer version of Systole wrote it; read it with that version or a later one",
  "frame/order": "Chunks or records are not in their order. Take the frame from its source again",
  "frame/changed": "It is not as it was written. Take the frame from its source again",
  "frame/unsealed": "It ends early. Take the frame from its source again",
  "frame/signature": "It was not made by the owner of that key, or was changed. Take it from a source that you trust",
  "frame/bounds": "It is beyond a limit of the format. Take it from a source that you trust"
} as const

/** The code of a refusal. */
export type Code = keyof typeof REASONS

/**
 * A frame was refused. Nothing of it is visible.
 *
 * `chunk` is the number of the chunk, 0 for the header; `offset` is the first byte of that chunk in the frame.
 */
export class FrameRefused extends Data.TaggedError("FrameRefused")<{
  readonly code: Code
  readonly chunk: number
  readonly offset: number
  readonly detail: string
}> {
  override get message() {
    return `The frame is refused at byte ${this.offset}, in ${this.chunk === 0 ? "its header" : `chunk ${this.chunk}`}: ` +
      `${this.detail}. ${REASONS[this.code]}`
  }
}

/** A refusal without its place in the frame, which the reader adds. */
export class Refusal extends Error {
  readonly code: Code
  constructor(code: Code, detail: string) {
    super(detail)
    this.code = code
  }
}
