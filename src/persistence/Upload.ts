/**
 * Uploads: chunks of any size become parts of one size, so memory holds at most one part.
 *
 * @module
 */
import { type Backend, PART, PARTS } from "./Backend.ts"
import type { BlobWriter } from "./Persistence.ts"

/**
 * Writes the content of one blob to a backend.
 */
export class Upload implements BlobWriter {
  private readonly backend: Backend
  private readonly named: (hash: string, upload: number) => void
  private readonly number: number
  private readonly part = new Uint8Array(PART)
  private filled = 0
  private parts = 0
  private open = true

  /** `named` receives the content's digest and the number of its upload. */
  constructor(backend: Backend, named: (hash: string, upload: number) => void) {
    this.backend = backend
    this.named = named
    this.number = backend.startUpload()
  }

  write(chunk: Uint8Array): void {
    this.checkOpen()
    if (chunk.length > PART) throw new RangeError(`A chunk has ${chunk.length} bytes and the limit is ${PART}: write it in smaller ones`)
    const head = chunk.subarray(0, PART - this.filled)
    this.part.set(head, this.filled)
    this.filled += head.length
    if (this.filled < PART) return
    this.writePart()
    this.part.set(chunk.subarray(head.length))
    this.filled = chunk.length - head.length
  }

  finish(hash: string): void {
    this.checkOpen()
    if (this.filled > 0) this.writePart()
    this.named(hash, this.number)
    this.open = false
  }

  abort(): void {
    if (this.open) this.backend.dropUpload(this.number)
    this.open = false
  }

  private writePart(): void {
    if (this.parts === PARTS) throw new RangeError(`The content has more than ${PARTS * PART} bytes, which is the limit`)
    this.backend.writePart(this.number, this.parts++, this.part.subarray(0, this.filled))
    this.filled = 0
  }

  private checkOpen(): void {
    if (!this.open) throw new Error("The content is finished or aborted: begin a new one")
  }
}
