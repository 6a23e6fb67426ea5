/**
 * The sent events of a socket that its client has not confirmed.
 *
 * The platform does not tell how much waits for a client, so the client confirms events: it sends their ids back.
 *
 * @module
 */

/**
 * The unconfirmed events of one socket, in order.
 */
export class Untaken {
  private readonly sent: Array<{ readonly id: string | null; readonly size: number }> = []
  private readonly most: number
  /** The characters of these events. */
  size = 0

  /** `size` characters up to the event `last` were sent by an object that left memory. */
  constructor(most: number, { last, size }: { readonly last: string | null; readonly size: number }) {
    this.most = most
    if (size > 0) this.add(last, size)
  }

  /** Whether a text may be sent. One that is alone always may. */
  fits(size: number): boolean {
    return this.size === 0 || this.size + size <= this.most
  }

  add(id: string | null, size: number): void {
    this.sent.push({ id, size })
    this.size += size
  }

  /** The client has this event and all before it. An unknown id says nothing. */
  taken(id: string): void {
    const index = this.sent.findLastIndex((event) => event.id === id)
    for (const { size } of this.sent.splice(0, index + 1)) this.size -= size
  }
}
