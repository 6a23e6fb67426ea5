/**
 * The commands that wait for a beat.
 *
 * @module
 */
import { type QueuedCommand, sizeOf } from "../model/Command.ts"
import type { Limits } from "../model/Limits.ts"
import type { InputVolume } from "./InputVolume.ts"

/**
 * The commands of one space, in the order of their arrival. They leave when the beat that executed them commits.
 */
export class PendingCommands {
  private readonly queued: Array<QueuedCommand> = []
  private readonly volume: InputVolume

  constructor(volume: InputVolume) {
    this.volume = volume
  }

  get size(): number {
    return this.queued.length
  }

  all(): ReadonlyArray<QueuedCommand> {
    return this.queued
  }

  /** Adds a command, or returns the limit that it would exceed. */
  offer(queued: QueuedCommand, limits: Limits): string | undefined {
    const size = sizeOf(queued.command)
    const limit = this.volume.limitFor(size, limits)
    if (limit !== undefined) return limit
    this.queued.push(queued)
    this.volume.commands++
    this.volume.bytes += size
    return undefined
  }

  /** Removes a command that no beat has captured; returns whether it was there. */
  withdraw(queued: QueuedCommand): boolean {
    const at = this.queued.indexOf(queued)
    if (at >= 0) this.remove(at, 1)
    return at >= 0
  }

  /** The commands of the next beat: the oldest pending part. They stay until that beat is committed. */
  next(limits: Limits): ReadonlyArray<QueuedCommand> {
    let bytes = 0
    const isOver = ({ command }: QueuedCommand, i: number) =>
      i >= limits.captureSignals || (bytes += sizeOf(command)) > limits.captureBytes && i > 0
    const end = this.queued.findIndex(isOver)
    return end < 0 ? this.queued.slice() : this.queued.slice(0, end)
  }

  /** Removes the commands that a beat has executed. */
  drop(count: number): void {
    this.remove(0, count)
  }

  private remove(at: number, count: number): void {
    for (const { command } of this.queued.splice(at, count)) {
      this.volume.commands--
      this.volume.bytes -= sizeOf(command)
    }
  }
}
