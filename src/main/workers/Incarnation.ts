/**
 * The incarnation of the space of an object: a space that is deleted and created again is another one.
 *
 * @module
 */
import type { Storage } from "./Platform.ts"

/** The key of the id, beside the database. A deletion of the space removes it. */
const KEY = "systole/incarnation"

/**
 * The id of the incarnation, drawn when the space is created.
 *
 * @category models
 * @since 0.1.0
 */
export class Incarnation {
  /** Absent before the space is created. */
  id: string | undefined
  private readonly storage: Pick<Storage, "put">

  private constructor(storage: Pick<Storage, "put">, id: string | undefined) {
    this.storage = storage
    this.id = id
  }

  static async read(storage: Pick<Storage, "get" | "put">): Promise<Incarnation> {
    return new Incarnation(storage, await storage.get(KEY) as string | undefined)
  }

  /** Begins a new one, before the space is created. */
  begin(): void {
    this.id = crypto.randomUUID()
    // The output gate waits for the write. If it fails, the platform resets the object.
    this.storage.put(KEY, this.id).catch(() => {})
  }
}
