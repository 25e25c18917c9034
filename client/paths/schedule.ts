/** SYNs to a peer that does not answer. It speaks up itself when it comes, so that waits may grow long. */
export const SYN_WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 120_000, 300_000] as const;
/** After this many unanswered SYNs the peer counts as silent. */
export const SILENT_AFTER_SYNS = 3;
/** OFFERs that are not answered; then the peer has to prove again that it lives. */
export const OFFER_WAITS_MS = [1_000, 2_000, 3_000, 4_000] as const;
/** While a try has found nothing, candidates are named again: those that came before the sender was proven were dropped. */
export const CANDIDATES_AGAIN_MS = [600, 2_000] as const;
/** The side that answers waits this long for the OFFER it asked for. */
export const OFFER_PATIENCE_MS = 3_000;
/**
 * Between tries that found no path. The first is above 30 s: a router without an inbound firewall notes a stray packet for
 * that long and gives the path's own packets another port as long as it does.
 */
export const TRY_WAITS_MS = [34_000, 60_000, 120_000, 300_000] as const;
/** Between tries after a path that was open is lost: it may come back any moment. */
export const RETURN_WAITS_MS = [3_000, 4_000, 6_000, 10_000, 20_000, 34_000, 60_000, 120_000, 300_000] as const;
/** How much later the answering side takes a try into its own hands. */
export const ANSWERER_LATER_MS = 8_000;
/** In a try with an order the second side begins this much later. */
export const SECOND_SIDE_LATER_MS = 600;
/** Asking the relay for a peer that was not there, and looking again for one that was. */
export const RELAY_PROBE_WAITS_MS = [2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 300_000] as const;
export const RELAY_RECHECK_MS = 45_000;
/** Peers with a direct path are told over this time of the relays that this node can use. */
export const RELAYS_LATER_MS = 60_000;
/** How long a peer is hoped for before its state is `failed`. */
export const HOPE_MS = 60_000;
/** The same for a later try. */
export const RETRY_HOPE_MS = 10_000;
/** Traffic keeps a path under close watch for this long. */
export const TRAFFIC_LINGER_MS = 5_000;
/**
 * Wait for the other's handshake, where two new tunnels meet. More than a message takes by
 * most relays, and little beside the second within which a peer that restarted answers.
 */
export const SESSION_YIELD_MS = 250;
/** A side that has a session waits this long for the handshake of a peer that started anew, or for signs that it is not needed. */
export const SESSION_DOUBT_MS = 600;
/** Between handshakes that lead nowhere; then WireGuard goes on by itself. */
export const SESSION_AGAIN_MS = [1_000, 2_000, 4_000] as const;
/** Between two commands that only say again where a peer is. */
export const REASSERT_MS = 50;

/** The wait number `n` of a schedule, the last one for ever after, with up to a quarter more by chance. */
export function waitOf(waits: readonly number[], n: number, fraction: number): number {
  const wait = waits[Math.min(n, waits.length - 1)] ?? 0;
  return wait * (1 + fraction / 4);
}
