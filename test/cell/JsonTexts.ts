/**
 * Random JSON texts, each with its value and with the faults that it has by exact arithmetic.
 *
 * @module
 */
import * as Random from "../support/Random.ts"

/** A text, its value, and the codes of its faults in their order. */
export interface Generated {
  readonly text: string
  readonly value: unknown
  readonly faults: ReadonlyArray<"json/key" | "json/number">
}

/** A literal as an exact fraction: numerator and denominator. */
const fractionOf = (literal: string): readonly [bigint, bigint] => {
  const [, sign, whole = "", part = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal)!
  const digits = BigInt(whole + part) * (sign === "-" ? -1n : 1n)
  const shift = Number(exponent) - part.length
  return shift >= 0 ? [digits * 10n ** BigInt(shift), 1n] : [digits, 10n ** BigInt(-shift)]
}

/** The smallest number that rounds to infinity: half a step above the largest double. */
const INFINITE = 2n ** 1024n - 2n ** 970n
/** The largest number that rounds to 0, as a denominator: half of the smallest double. */
const ZERO = 2n ** 1075n

const sizeOf = (value: bigint): bigint => value < 0n ? -value : value

/** Whether an integer has at most 53 significant bits. */
const isHeld = (value: bigint): boolean => {
  const excess = sizeOf(value).toString(2).length - 53
  return excess <= 0 || value % (1n << BigInt(excess)) === 0n
}

/**
 * Whether a text changes the number of a literal, by exact arithmetic: an integer has more than 53 significant bits, or a number
 * rounds to 0 or to infinity.
 */
export const isChanged = (literal: string): boolean => {
  const [above, below] = fractionOf(literal)
  const size = sizeOf(above)
  if (size === 0n) return false
  if (size >= INFINITE * below || size * ZERO <= below) return true
  return /^-?\d+$/.test(literal) && !isHeld(above)
}

const digitsOf = (draw: Random.Random, count: number): string => Array.from({ length: count }, () => draw(10)).join("")

const wholeOf = (draw: Random.Random): string =>
  draw(4) === 0 ? "0" : `${1 + draw(9)}${digitsOf(draw, draw(3) === 0 ? 13 + draw(8) : draw(5) === 0 ? 300 + draw(20) : draw(6))}`

/** An integer near a power of 2, where doubles change their distance. */
const edgeOf = (draw: Random.Random): string => String(2n ** BigInt(50 + draw(20)) + BigInt(draw(5)) - 2n)

const exponents = ["e0", "e5", "E+22", "e-7", "e308", "e309", "E-320", "e-324", "e-400", "e99", "e-99", "e007", "e+0308"]

const numberOf = (draw: Random.Random): string => {
  const sign = draw(4) === 0 ? "-" : ""
  const whole = draw(3) === 0 ? edgeOf(draw) : wholeOf(draw)
  const zeros = draw(8) === 0 ? "0".repeat(330) : ""
  const part = draw(3) === 0 ? `.${zeros}${digitsOf(draw, 1 + draw(20))}` : ""
  return sign + whole + part + (draw(3) === 0 ? Random.pick(draw, exponents) : "")
}

const strings = [
  `""`, `"a"`, `"12345678901234567890"`, `"\\""`, `"\\\\"`, `"\\n"`, `"\\\\\\""`, `"{\\"a\\":1,"`, `"1e999"`, `"ä"`, `"\\u0061"`, `"[:]"`,
  `"__proto__"`, `"toString"`
]

const space = (draw: Random.Random): string => Random.pick(draw, ["", "", "", " ", "\n\t"])

/** A text and its value. */
type Made = readonly [text: string, value: unknown]

/** Makes texts, and notes their faults. */
class Generator {
  readonly faults: Array<"json/key" | "json/number"> = []
  private readonly draw: Random.Random

  constructor(draw: Random.Random) {
    this.draw = draw
  }

  value(depth: number): Made {
    const kind = this.draw(depth > 4 ? 4 : 8)
    if (kind === 0) return Random.pick(this.draw, [["true", true], ["false", false], ["null", null]])
    if (kind === 1) return this.string()
    if (kind < 4) return this.number()
    return kind < 6 ? this.list(depth) : this.record(depth)
  }

  private string(): Made {
    const text = Random.pick(this.draw, strings)
    return [text, JSON.parse(text)]
  }

  private number(): Made {
    // Most literals are unchanged, or hardly any text is without a fault.
    let literal = numberOf(this.draw)
    if (this.draw(6) !== 0) while (isChanged(literal)) literal = numberOf(this.draw)
    if (isChanged(literal)) this.faults.push("json/number")
    return [literal, Number(literal)]
  }

  private list(depth: number): Made {
    const items = Array.from({ length: this.draw(5) }, () => this.value(depth + 1))
    return [`[${items.map(([text]) => this.spaced(text)).join()}]`, items.map(([, value]) => value)]
  }

  private record(depth: number): Made {
    const members = new Map<string, unknown>()
    const texts = Array.from({ length: this.draw(5) }, () => {
      let [text, key] = this.string()
      if (this.draw(6) !== 0) while (members.has(String(key))) [text, key] = this.string()
      if (members.has(String(key))) this.faults.push("json/key")
      const [inner, value] = this.value(depth + 1)
      members.set(String(key), value)
      return `${this.spaced(text)}:${this.spaced(inner)}`
    })
    return [`{${texts.join()}}`, Object.fromEntries(members)]
  }

  private spaced(text: string): string {
    return space(this.draw) + text + space(this.draw)
  }
}

/** The text of a seed. */
export const make = (seed: number): Generated => {
  const generator = new Generator(Random.make(seed))
  const [text, value] = generator.value(0)
  return { text, value, faults: generator.faults }
}
