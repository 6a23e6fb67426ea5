/**
 * Interest: which ledgers a document belongs to, by the folders that they claim.
 *
 * The stage asks once for each document that a beat writes, so a beat that
 * writes nothing of a ledger runs nothing of it.
 *
 * @module
 */

/** The place in a key at which the folders of ledgers begin to differ: most documents of a beat are told apart by this letter alone. */
const LETTER = 6

/** A folder, and the bits of the ledgers that claim it. */
interface Claim {
  readonly folder: string
  bits: number
}

/**
 * The folders of several ledgers, each ledger with the bit of its place in the list.
 *
 * @category models
 * @since 0.1.0
 */
export class Interest {
  private readonly claims: ReadonlyMap<number, ReadonlyArray<Claim>>

  /** `folders` has, for each ledger, the cells below which its documents lie; at most 31 ledgers. */
  constructor(folders: ReadonlyArray<ReadonlyArray<string>>) {
    const claims = new Map<string, Claim>()
    folders.forEach((own, i) => {
      for (const cell of own) {
        const folder = `${cell}/`
        const claim = claims.get(folder) ?? { folder, bits: 0 }
        claim.bits |= 1 << i
        claims.set(folder, claim)
      }
    })
    this.claims = Map.groupBy(claims.values(), ({ folder }) => folder.charCodeAt(LETTER))
  }

  /** The bits of the ledgers that claim a document; 0 for most. */
  of(key: string): number {
    const claims = this.claims.get(key.charCodeAt(LETTER))
    if (claims === undefined) return 0
    let bits = 0
    for (const claim of claims) if (key.startsWith(claim.folder)) bits |= claim.bits
    return bits
  }
}
