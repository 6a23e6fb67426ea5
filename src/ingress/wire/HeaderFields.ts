/**
 * Header fields that are added to an answer.
 *
 * @module
 */

/**
 * An answer with other header fields. It is made anew where its own do not change, as those of an object that a Worker called. The
 * answer with a socket has none to add: it cannot be made anew, and no client reads them.
 */
export const changed = (response: Response, change: (headers: Headers) => void): Response => {
  if (response.status === 101) return response
  try {
    change(response.headers)
    return response
  } catch {
    const answer = new Response(response.body, response)
    change(answer.headers)
    return answer
  }
}
