import { signal } from '@preact/signals';
import { api } from '../../api/client.ts';
import { asProblem } from '../../api/load.ts';
import { Problem, problemOf } from '../../api/problem.ts';
import { type ServerEvent, serverEvents } from '../../api/server-events.ts';
import type { CauseFindings } from '../../api/types.ts';

export interface Question {
  readonly question: string;
  readonly from: string;
  readonly to: string;
}

export interface Step {
  readonly text: string;
  /** What is asked of the past, as the API takes it. */
  readonly call?: string;
}

export type Finding = CauseFindings['findings'][number];

export interface Answer {
  readonly steps: readonly Step[];
  readonly findings: readonly Finding[];
  /** Computed. */
  readonly words: string;
  /** Of a language model, beside what was computed. */
  readonly modelWords: string;
  readonly model: string | undefined;
  readonly isAnswering: boolean;
  readonly isStopped: boolean;
  /** Findings that were left out. */
  readonly omitted: number;
  readonly next: Lead | undefined;
  /** The time that the question was read to be about. */
  readonly range: { readonly from: string; readonly to: string } | undefined;
  readonly problem: Problem | undefined;
}

/** Another operation that answers the question better. */
export type Lead = NonNullable<CauseFindings['next']>;

const NOTHING: Answer = {
  steps: [],
  findings: [],
  words: '',
  modelWords: '',
  model: undefined,
  isAnswering: true,
  isStopped: false,
  omitted: 0,
  next: undefined,
  range: undefined,
  problem: undefined,
};

/** How often a stream that was cut off is taken up where it was. */
const MAX_RESUMES = 3;

/** Asks, and keeps what is told as it comes. */
export function begin(asked: Question) {
  const answer = signal<Answer>(NOTHING);
  const abort = new AbortController();
  void follow(asked, abort.signal, (change) => {
    answer.value = { ...answer.value, ...change(answer.value) };
  });
  return {
    asked,
    answer,
    stop: () => {
      if (!answer.value.isAnswering) return;
      abort.abort();
      answer.value = { ...answer.value, isAnswering: false, isStopped: true };
    },
  };
}

export type Asked = ReturnType<typeof begin>;

type Update = (change: (answer: Answer) => Partial<Answer>) => void;

async function follow({ question, from, to }: Question, abort: AbortSignal, update: Update): Promise<void> {
  let last = '';
  try {
    for (let resumed = 0; resumed <= MAX_RESUMES; resumed++) {
      const { data } = await api.POST('/api/v1/ai/debug', {
        params: { header: { ...(last && { 'Last-Event-ID': last }) } },
        body: { question, time_range: { from, to } },
        parseAs: 'stream',
        signal: abort,
      });
      for await (const event of serverEvents(data as ReadableStream<Uint8Array>)) {
        if (event.id) last = event.id;
        const isOver = event.event === 'done' || event.event === 'error';
        update((answer) => ({ ...taken(answer, event), ...(isOver && { isAnswering: false }) }));
        if (isOver) return;
      }
      if (last === '') break;
    }
    throw new Problem({ title: 'The connection was lost before the answer was complete. Ask again.', code: 'cut' });
  } catch (error) {
    if (!abort.aborted) update(() => ({ problem: asProblem(error), isAnswering: false }));
  }
}

/** What an event of the stream adds. */
function taken(answer: Answer, { event, data }: ServerEvent): Partial<Answer> {
  if (data === '') return {};
  const told = JSON.parse(data);
  switch (event) {
    case 'step':
      return { steps: [...answer.steps, { text: told.text }] };
    case 'tool': {
      const call = JSON.stringify(told.arguments, null, 2);
      return { steps: [...answer.steps, { text: `asks ${told.name}`, call }] };
    }
    case 'finding':
      return { findings: [...answer.findings, told] };
    case 'token':
      return told.by === 'model'
        ? { modelWords: answer.modelWords + told.text, model: told.model }
        : { words: answer.words + told.text };
    case 'done':
      return { words: told.summary || answer.words, omitted: told.omitted ?? 0, next: told.next, range: told.asked };
    case 'error':
      return { problem: problemOf(told.status ?? 0, told) };
    default:
      return {};
  }
}
