import { ALL_CASES } from './cases.ts';
import { stateOfNetwork } from './networks.ts';
import { isRecorded, player, type Recording } from './recorded.ts';
import { type Asked, type Trial, trialsOf, tryOne } from './score.ts';

/** What was asked when the recording was made, in the order of the cases. */
export function askedIn(recording: Recording): Asked[] {
  return trialsOf(ALL_CASES).filter(({ one, network, says }) =>
    isRecorded(recording, { intent: says, history: one.history ?? [], state: stateOfNetwork(network) }),
  );
}

/** The effects of a recording against their golds. */
export async function scoredOf(recording: Recording): Promise<Trial[]> {
  const planner = player(recording);
  const { signal } = new AbortController();
  const trials: Trial[] = [];
  for (const asked of askedIn(recording)) trials.push(await tryOne(planner, asked, signal));
  return trials;
}

export function titleOf({ planner, mode, server, recordedAt, commit, answers, intents }: Recording): string {
  const when = `recorded ${recordedAt.slice(0, 10)} at ${commit}`;
  return `${planner} by ${server}, mode ${mode}, ${when}: ${answers.length} of ${intents} intents`;
}
