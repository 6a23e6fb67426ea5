import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Capability from "../../src/frame/Capability.ts"
import * as Chunk from "../../src/frame/Chunk.ts"
import { FrameWriter } from "../../src/frame/FrameWriter.ts"
import * as Seal from "../../src/frame/Seal.ts"
import * as Signature from "../../src/frame/Signature.ts"
import { concat } from "../../src/cell/Bytes.ts"
import { codeOf, hash, header, read, record } from "./Frames.ts"

const signerOf = (byte: number) =>
  Effect.runPromise(Signature.signer(Signature.secretOf(new Uint8Array(32).fill(byte)), "NODE_KEY"))

/** A frame with its seal as its last piece, and the same frame with another seal. */
const signed = async (byte: number, caps = Capability.of(["signed"])) => {
  const writer = new FrameWriter({ ...header, caps }, hash)
  const signer = await signerOf(byte)
  const chunks = [...writer.add(record("cell", "/data/a", "1")), ...await writer.seal(Capability.has(caps, "signed") ? signer : undefined)]
  const pieces = [writer.opening, ...chunks.map((chunk) => Chunk.encode(chunk))]
  const seal = chunks.at(-1)
  if (seal === undefined) throw new Error("a frame has a seal")
  const sealedBy = (raw: Uint8Array): Uint8Array => concat([...pieces.slice(0, -1), Chunk.encode({ ...seal, raw })])
  return { signer, seal, whole: concat(pieces), sealedBy }
}

const totals: Seal.Totals = { chunks: 1, records: 1, bytes: 0, head: header.head }

describe("A signed frame", () => {
  it("tells the key that signed its root, which is the root of the seal without the signature", async () => {
    const { seal, signer, whole } = await signed(7)
    const { end } = await read(whole)
    assert.deepInclude(end, { signer: signer.key, root: seal.digest })
    const { end: other } = await read((await signed(8)).whole)
    assert.deepInclude(other, { root: seal.digest })
  })

  it("is refused with a changed bit at each place of its seal", async () => {
    const { seal, sealedBy } = await signed(7)
    for (let i = 0; i < seal.raw.length; i++) {
      const raw = seal.raw.slice()
      raw[i] = (raw[i] ?? 0) ^ 1
      assert.include(["frame/changed", "frame/signature"], codeOf(await read(sealedBy(raw))), `byte ${i}`)
    }
  })

  it("is refused with the signature of another key, of another root, or none where its header has the bit", async () => {
    const { seal, sealedBy } = await signed(7)
    const other = await signerOf(8)
    const own = JSON.parse(new TextDecoder().decode(seal.raw)) as Seal.Totals & { readonly signature: Signature.Signature }
    const { signature, ...bare } = own
    assert.deepInclude(bare, { ...totals, bytes: bare.bytes })
    const seals = [
      Seal.encode(bare), Seal.encode(bare, { key: other.key, value: signature.value }), Seal.encode(bare, await other.sign("ab".repeat(32)))
    ]
    for (const raw of seals) assert.strictEqual(codeOf(await read(sealedBy(raw))), "frame/signature")
    assert.isUndefined(codeOf(await read(sealedBy(Seal.encode(bare, await other.sign(seal.digest))))))
  })

  it("has its signature nowhere but in its seal: a frame without the bit is refused with one", async () => {
    const { seal, sealedBy, signer, whole } = await signed(7, 0)
    assert.deepInclude((await read(whole)).end, { signer: undefined })
    const bare = JSON.parse(new TextDecoder().decode(seal.raw)) as Seal.Totals
    assert.strictEqual(codeOf(await read(sealedBy(Seal.encode(bare, await signer.sign(seal.digest))))), "frame/changed")
  })
})
