/**
 * The interest of ledgers in documents, by the folders that they claim.
 *
 * The stage checks once per document that a beat writes. A beat without a document of a ledger therefore runs no code of
 * that ledger.
 *
 * @module
 */

/** The index in a key at which the folders of ledgers first differ. This letter alone decides most documents of a beat. */
export const LETTER = 6

/** A folder, and the bits of the ledgers that claim it. */
interface Claim {
  readonly folder: string
  bits: number
}

/**
 * The folders of several ledgers. The bit of each ledger is its position in the list.
 */
export class Interest {
  private readonly claims: ReadonlyMap<number, ReadonlyArray<Claim>>

  /** `folders` lists, for each ledger, the cells above its documents; at most 31 ledgers. Each has more than {@link LETTER} characters. */
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

  /** Returns the bits of the ledgers that claim a document; 0 for most documents. */
  of(key: string): number {
    const claims = this.claims.get(key.charCodeAt(LETTER))
    if (claims === undefined) return 0
    let bits = 0
    for (const claim of claims) if (key.startsWith(claim.folder)) bits |= claim.bits
    return bits
  }
}
