/**
 * Compression of the bytes of a chunk, by the streams of the host.
 *
 * @module
 */
import { concat } from "../cell/Bytes.ts"

/** The bytes of a stream, at most `limit` and those of one more read. */
const collect = async (stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  const reader = stream.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    parts.push(read.value)
    size += read.value.byteLength
    if (size > limit) {
      await reader.cancel()
      break
    }
  }
  return concat(parts)
}

const through = (bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream): ReadableStream<Uint8Array> =>
  new Blob([bytes]).stream().pipeThrough(transform)

/** Compresses bytes. */
export const compress = (bytes: Uint8Array): Promise<Uint8Array> =>
  collect(through(new Uint8Array(bytes), new CompressionStream("deflate-raw")), Infinity)

/**
 * Decompresses bytes that were `size` before compression; `undefined` if they were not, or if they are no compressed bytes.
 * It holds little more than `size` bytes, whatever they would become.
 */
export const decompress = async (bytes: Uint8Array, size: number): Promise<Uint8Array | undefined> => {
  const found = await collect(through(new Uint8Array(bytes), new DecompressionStream("deflate-raw")), size).catch(() => undefined)
  return found?.length === size ? found : undefined
}
