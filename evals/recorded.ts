import { z } from 'zod';
import type { PlanAnswer, Planner, PlanQuestion } from '../core/intent/planner.ts';

/** Answers of a planner as they were given once: a model is asked by hand, and its answers are scored without it ever after. */
const recordingSchema = z.strictObject({
  format: z.literal(1),
  planner: z.string(),
  recordedAt: z.iso.datetime(),
  /** Of the code that asked. */
  commit: z.string(),
  answers: z.array(
    z.strictObject({
      /** What the question was asked on; another network with the same intent is another question. */
      peers: z.int(),
      firstPeer: z.string(),
      history: z.array(z.string()),
      intent: z.string(),
      answer: z.looseObject({ outcome: z.enum(['changes', 'refused', 'revert']) }),
    }),
  ),
});
export type Recording = z.output<typeof recordingSchema>;
type Recorded = Recording['answers'][number];

type Question = Pick<PlanQuestion, 'intent' | 'history' | 'state'>;

function placeOf({ intent, history = [], state }: Question): Omit<Recorded, 'answer'> {
  const [firstPeer = ''] = [...state.peers.keys()].sort();
  return { peers: state.peers.size, firstPeer, history: [...history], intent };
}

function keyOf({ peers, firstPeer, history, intent }: Omit<Recorded, 'answer'>): string {
  return JSON.stringify([peers, firstPeer, history, intent]);
}

/** Asks a planner and keeps what it answers. */
export function recorder(planner: Planner) {
  const answers: Recorded[] = [];
  return {
    planner: {
      name: planner.name,
      async plan(question: PlanQuestion): Promise<PlanAnswer> {
        const answer = await planner.plan(question);
        answers.push({ ...placeOf(question), answer: structuredClone(answer) });
        return answer;
      },
    } satisfies Planner,
    recording: (recordedAt: string, commit: string): Recording => ({
      format: 1,
      planner: planner.name,
      recordedAt,
      commit,
      answers,
    }),
  };
}

/** Answers from a recording. What was not recorded is refused, and counts as such. */
export function player(recording: Recording): Planner {
  const answers = new Map(recording.answers.map((one) => [keyOf(one), one.answer]));
  return {
    name: recording.planner,
    plan: (question) => {
      const found = answers.get(keyOf(placeOf(question)));
      // Answers went into the file through the type and are judged by their effect, as a live answer is.
      const answer = found as unknown as PlanAnswer | undefined;
      return Promise.resolve(
        answer ?? { outcome: 'refused', reason: 'This was not recorded: record it again.', questions: [], choices: [] },
      );
    },
  };
}

/** Reads a recording. @throws ZodError when the file is none. */
export function parseRecording(text: string): Recording {
  return recordingSchema.parse(JSON.parse(text));
}
