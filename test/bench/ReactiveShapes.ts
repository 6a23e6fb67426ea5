/**
 * The shapes of the usual benchmarks of signal libraries, written from their
 * descriptions.
 *
 * Each contender has its own copy of this module, so that the types seen from one
 * contender do not slow the calls of another.
 *
 * @module
 */
import type { Library } from "./Reactive.ts"

/** One shape, built and ready. */
export interface Shape {
  /** Changes sources a fixed number of times. Throws if a result is wrong. */
  readonly run: () => void
  /** The sum of the values that the effects read, and the number of their runs since the build. */
  readonly tally: () => string
  /** The number of runs of computed values since the build. */
  readonly computed: () => number
}

type Build = (library: Library<any>) => Shape

/** The counts of one shape, which must be equal for all contenders. */
class Tally {
  computed = 0
  effects = 0
  sum = 0

  see(value: number): void {
    this.effects++
    this.sum = (this.sum + value) % 1_000_003
  }
}

/** Resets the counts after the build, because a deep shape is built in several batches. */
const shape = (tally: Tally, run: () => void): Shape => {
  const { computed, effects } = tally
  return {
    run,
    tally: () => `sum ${tally.sum}, ${tally.effects - effects} effects`,
    computed: () => tally.computed - computed
  }
}

/** Writes one source again and again, each write a batch. */
const rewrite = (library: Library<any>, source: unknown, times: number) => {
  let value = 0
  return (): void => {
    for (let i = 0; i < times; i++) {
      value++
      library.batch(() => library.write(source, value))
    }
  }
}

const avoidable: Build = (library) => {
  const tally = new Tally()
  const head = library.source(0)
  const same = library.computed((r) => (tally.computed++, r.get(head)))
  const constant = library.computed((r) => (tally.computed++, r.get(same), 0))
  let last = library.computed((r) => (tally.computed++, Number(r.get(constant)) + 1))
  for (let i = 2; i < 4; i++) {
    const before = last
    last = library.computed((r) => (tally.computed++, Number(r.get(before)) + i))
  }
  const end = last
  library.effect((r) => tally.see(Number(r.get(end))))
  return shape(tally, rewrite(library, head, 20_000))
}

const broad: Build = (library) => {
  const tally = new Tally()
  const head = library.source(0)
  for (let i = 0; i < 50; i++) {
    const first = library.computed((r) => (tally.computed++, (r.get(head) as number) + i))
    const second = library.computed((r) => (tally.computed++, (r.get(first) as number) + 1))
    library.effect((r) => tally.see(r.get(second) as number))
  }
  return shape(tally, rewrite(library, head, 600))
}

const deep: Build = (library) => {
  const tally = new Tally()
  const head = library.source(0)
  let last = head
  for (let i = 0; i < 50; i++) {
    const before = last
    last = library.computed((r) => (tally.computed++, (r.get(before) as number) + 1))
  }
  const end = last
  library.effect((r) => tally.see(r.get(end) as number))
  return shape(tally, rewrite(library, head, 2000))
}

const diamond: Build = (library) => {
  const tally = new Tally()
  const head = library.source(0)
  const middle = Array.from({ length: 5 }, () => library.computed((r) => (tally.computed++, (r.get(head) as number) + 1)))
  const sum = library.computed((r) => {
    tally.computed++
    let sum = 0
    for (const each of middle) sum += r.get(each) as number
    return sum
  })
  library.effect((r) => tally.see(r.get(sum) as number))
  return shape(tally, rewrite(library, head, 10_000))
}

const mux: Build = (library) => {
  const tally = new Tally()
  const heads = Array.from({ length: 100 }, () => library.source(0))
  const all = library.computed((r) => {
    tally.computed++
    return Object.fromEntries(heads.map((head, i) => [i, r.get(head)]))
  })
  for (let i = 0; i < heads.length; i++) {
    const one = library.computed((r) => (tally.computed++, (r.get(all) as Record<number, number>)[i]))
    const more = library.computed((r) => (tally.computed++, (r.get(one) as number) + 1))
    library.effect((r) => tally.see(r.get(more) as number))
  }
  let value = 0
  return shape(tally, () => {
    for (let i = 0; i < 300; i++) {
      value++
      library.batch(() => library.write(heads[value % heads.length], value))
    }
  })
}

const repeated: Build = (library) => {
  const tally = new Tally()
  const head = library.source(0)
  const sum = library.computed((r) => {
    tally.computed++
    let sum = 0
    for (let i = 0; i < 30; i++) sum += r.get(head) as number
    return sum
  })
  library.effect((r) => tally.see(r.get(sum) as number))
  return shape(tally, rewrite(library, head, 2000))
}

const triangle: Build = (library) => {
  const tally = new Tally()
  const head = library.source(0)
  const steps = [head]
  for (let i = 0; i < 9; i++) {
    const before = steps[i]
    steps.push(library.computed((r) => (tally.computed++, (r.get(before) as number) + 1)))
  }
  const sum = library.computed((r) => {
    tally.computed++
    let sum = 0
    for (const step of steps) sum += r.get(step) as number
    return sum
  })
  library.effect((r) => tally.see(r.get(sum) as number))
  return shape(tally, rewrite(library, head, 6000))
}

const unstable: Build = (library) => {
  const tally = new Tally()
  const head = library.source(0)
  const double = library.computed((r) => (tally.computed++, (r.get(head) as number) * 2))
  const inverse = library.computed((r) => (tally.computed++, -(r.get(head) as number)))
  const sum = library.computed((r) => {
    tally.computed++
    let sum = 0
    for (let i = 0; i < 20; i++) sum += (r.get(head) as number) % 2 === 0 ? r.get(inverse) as number : r.get(double) as number
    return sum
  })
  library.effect((r) => tally.see(r.get(sum) as number))
  return shape(tally, rewrite(library, head, 2000))
}

const cellx = (layers: number): Build => (library) => {
  const tally = new Tally()
  const starts = [1, 2, 3, 4].map((value) => library.source(value))
  let layer = starts
  for (let i = 0; i < layers; i++) {
    const [a, b, c, d] = layer
    layer = [
      library.computed((r) => (tally.computed++, r.get(b))),
      library.computed((r) => (tally.computed++, (r.get(a) as number) - (r.get(c) as number))),
      library.computed((r) => (tally.computed++, (r.get(b) as number) + (r.get(d) as number))),
      library.computed((r) => (tally.computed++, r.get(c)))
    ]
    for (const cell of layer) library.effect((r) => tally.see(r.get(cell) as number))
  }
  let turn = 0
  return shape(tally, () => {
    for (let i = 0; i < 4; i++) {
      turn++
      library.batch(() => starts.forEach((start, i) => library.write(start, turn % 2 === 0 ? i + 1 : 4 - i)))
    }
  })
}

/** A grid of computed values. Each reads some neighbours of the layer above, a part of them conditionally. */
interface Grid {
  readonly width: number
  readonly layers: number
  readonly reads: number
  /** The share of nodes with constant dependencies. */
  readonly still: number
  /** The watched share of the last layer. */
  readonly watched: number
  readonly times: number
}

/** A repeatable generator of numbers from 0 up to 1. */
const chance = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 4_294_967_296
}

const grid = ({ layers, reads, still, times, watched, width }: Grid): Build => (library) => {
  const tally = new Tally()
  const roll = chance(7)
  const heads = Array.from({ length: width }, (_, i) => library.source(i))
  let row: Array<unknown> = heads
  for (let layer = 1; layer < layers; layer++) {
    const above = row
    row = above.map((_, i) => {
      const mine = Array.from({ length: reads }, (_, k) => above[(i + k) % width])
      return roll() < still ? library.computed((r) => {
        tally.computed++
        let sum = 0
        for (const each of mine) sum += r.get(each) as number
        return sum % 1_000_003
      }) : library.computed((r) => {
        tally.computed++
        let sum = r.get(mine[0]) as number
        const left = (sum & 1) === 1 ? sum % mine.length : -1
        for (let k = 1; k < mine.length; k++) if (k !== left) sum += r.get(mine[k]) as number
        return sum % 1_000_003
      })
    })
  }
  const seen = row.filter((_, i) => roll() < watched || i === 0)
  library.effect((r) => {
    let sum = 0
    for (const each of seen) sum += r.get(each) as number
    tally.see(sum)
  })
  let turn = 0
  return shape(tally, () => {
    for (let i = 0; i < times; i++) {
      const head = turn++ % width
      library.batch(() => library.write(heads[head], turn + head))
    }
  })
}

/** The shapes by group and name. With `eager`, some contenders run a value that was read in the last pass only, and others do not. */
export const shapes: Readonly<Record<string, { readonly group: "kairo" | "dynamic"; readonly build: Build; readonly eager?: true }>> = {
  avoidable: { group: "kairo", build: avoidable },
  broad: { group: "kairo", build: broad },
  deep: { group: "kairo", build: deep },
  diamond: { group: "kairo", build: diamond },
  mux: { group: "kairo", build: mux },
  repeated: { group: "kairo", build: repeated },
  triangle: { group: "kairo", build: triangle },
  unstable: { group: "kairo", build: unstable, eager: true },
  "cellx 1000": { group: "kairo", build: cellx(1000) },
  "cellx 2500": { group: "kairo", build: cellx(2500) },
  "10x5, 2 reads, 20 % watched": {
    group: "dynamic",
    build: grid({ width: 10, layers: 5, reads: 2, still: 1, watched: 0.2, times: 10_000 })
  },
  "10x10, 6 reads, 25 % moving, 20 % watched": {
    group: "dynamic",
    build: grid({ width: 10, layers: 10, reads: 6, still: 0.75, watched: 0.2, times: 6000 })
  },
  "1000x12, 4 reads, 5 % moving": {
    group: "dynamic",
    build: grid({ width: 1000, layers: 12, reads: 4, still: 0.95, watched: 1, times: 200 })
  },
  "1000x5, 25 reads": { group: "dynamic", build: grid({ width: 1000, layers: 5, reads: 25, still: 1, watched: 1, times: 80 }) },
  "5x500, 3 reads": { group: "dynamic", build: grid({ width: 5, layers: 500, reads: 3, still: 1, watched: 1, times: 30 }) },
  "100x15, 6 reads, 50 % moving": { group: "dynamic", build: grid({ width: 100, layers: 15, reads: 6, still: 0.5, watched: 1, times: 60 }) }
}
