/**
 * A Worker over the floors that every host shares: answers with the stored text
 * of the JSON it is sent.
 *
 * @module
 */
import * as Document from "../../src/cell/Document.ts"

export default {
  fetch: async (request: Request): Promise<Response> => {
    const value: unknown = await request.json()
    return new Response(Document.encode({ at: new Date(0), value }).text)
  }
}
