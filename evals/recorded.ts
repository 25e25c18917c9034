import { z } from 'zod';
import { MeshError } from '../core/base/errors.ts';
import type { ModelCall, PlanAnswer, Planner, PlanQuestion } from '../core/intent/plan/planner.ts';

/** Answers of a planner as they were given once: a model is asked by hand, and its answers are scored without it ever after. */
const recordingSchema = z.strictObject({
  format: z.literal(1),
  planner: z.string(),
  recordedAt: z.iso.datetime(),
  /** Of the code that asked. */
  commit: z.string(),
  /** The server and its version, as whoever recorded it names them. */
  server: z.string(),
  /** How the server was told to answer in a form. */
  mode: z.string(),
  maxTokens: z.int().nullable(),
  /** How many intents there were, and what their order was shuffled by: where time ended, the rest was not asked. */
  intents: z.int(),
  seed: z.int(),
  answers: z.array(
    z.strictObject({
      /** What the question was asked on; another network with the same intent is another question. */
      peers: z.int(),
      firstPeer: z.string(),
      policies: z.int(),
      history: z.array(z.string()),
      intent: z.string(),
      /** Requests to the model, the one for a repair included, and the time of all of them. */
      requests: z.int(),
      milliseconds: z.int(),
      answer: z.looseObject({ outcome: z.enum(['changes', 'refused', 'revert']) }),
    }),
  ),
});
export type Recording = z.output<typeof recordingSchema>;
type Recorded = Recording['answers'][number];

type Place = Pick<Recorded, 'peers' | 'firstPeer' | 'policies' | 'history' | 'intent'>;
type Question = Pick<PlanQuestion, 'intent' | 'history' | 'state'>;

function placeOf({ intent, history = [], state }: Question): Place {
  const [firstPeer = ''] = [...state.peers.keys()].sort();
  return { peers: state.peers.size, firstPeer, policies: state.policies.size, history: [...history], intent };
}

function keyOf({ peers, firstPeer, policies, history, intent }: Place): string {
  return JSON.stringify([peers, firstPeer, policies, history, intent]);
}

/** What is known of a recording before it begins. */
export type Provenance = Omit<Recording, 'format' | 'planner' | 'mode' | 'answers'>;

/**
 * Asks a planner and keeps what it answers, also that it did not.
 *
 * @param before what was recorded when an earlier run ended
 */
export function recorder(planner: Planner, before?: Pick<Recording, 'answers' | 'mode'>) {
  const answers: Recorded[] = [...(before?.answers ?? [])];
  const modes = new Set(before?.mode.split(', ').filter(Boolean));
  return {
    planner: {
      name: planner.name,
      async plan(question: PlanQuestion): Promise<PlanAnswer> {
        const calls: ModelCall[] = [];
        const answer = await planner.plan({ ...question, onCall: (call) => calls.push(call) }).catch(unanswered);
        for (const { mode } of calls) modes.add(mode);
        const milliseconds = calls.reduce((sum, call) => sum + call.milliseconds, 0);
        answers.push({ ...placeOf(question), requests: calls.length, milliseconds, answer: structuredClone(answer) });
        return answer;
      },
    } satisfies Planner,
    recording: (provenance: Provenance): Recording => ({
      format: 1,
      planner: planner.name,
      mode: [...modes].join(', '),
      ...provenance,
      answers,
    }),
  };
}

function unanswered(error: unknown): PlanAnswer {
  if (!(error instanceof MeshError) || error.code !== 'unavailable') throw error;
  return { outcome: 'refused', reason: error.message, questions: [], choices: [] };
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

/** Whether this was asked when the recording was made. */
export function isRecorded(recording: Recording, question: Question): boolean {
  const key = keyOf(placeOf(question));
  return recording.answers.some((one) => keyOf(one) === key);
}

/** Reads a recording. @throws ZodError when the file is none. */
export function parseRecording(text: string): Recording {
  return recordingSchema.parse(JSON.parse(text));
}
