import { MeshError } from '../../core/base/errors.ts';
import { modelAsks, modelSays } from '../../core/intent/plan/model-words.ts';
import type { PlanAnswer, Planner, PlanQuestion, WordingView } from '../../core/intent/plan/planner.ts';
import { retrieve } from '../retrieval/retrieval.ts';
import { changesOf, expectationsOf } from './answer-changes.ts';
import { type AnswerForm, answerForm, jsonSchemaOf, readAnswer } from './answer-form.ts';
import { type ChatOptions, openAiChat, TIMEOUT_MS } from './openai/chat.ts';
import type { Reply } from './openai/reply.ts';
import {
  counterexampleDocument,
  formDocument,
  questionDocument,
  SYSTEM_PROMPT,
  WORDING_PROMPT,
  wordingDocument,
} from './prompt.ts';

const MAX_TEXT = 400;
const MAX_REASONING = 2_000;
const MAX_WORDING = 1_500;
/** A plan waits no longer for words that decide nothing. */
const WORDING_MS = 3_000;
const MAX_QUESTIONS = 5;

/** Requests that a question may take in all, its counterexamples included, as so many times the longest time for one. */
const TURNS = 3;

interface Conversation {
  /** By `performance.now()`. */
  readonly until: number;
  /** What the model said last. */
  said?: string;
}

type Message =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string };

/**
 * A planner that asks a model behind an OpenAI-compatible server. What it answers is only ever proposed: its own
 * expectations are checked and prove nothing (docs/decisions/0011-model-plans-prove-nothing.md).
 */
export function openAiPlanner(options: ChatOptions): Planner {
  const chat = openAiChat(options);
  /** By the signal that the turns of one question share. */
  const conversations = new WeakMap<AbortSignal, Conversation>();

  function conversationOf({ signal, counterexample }: PlanQuestion): Conversation {
    const known = counterexample && conversations.get(signal);
    if (known) return known;
    const begun: Conversation = { until: performance.now() + TURNS * (options.timeoutMs ?? TIMEOUT_MS) };
    conversations.set(signal, begun);
    return begun;
  }

  async function ask(
    question: PlanQuestion,
    conversation: Conversation,
    messages: readonly Message[],
    form: AnswerForm,
  ): Promise<Reply> {
    const { signal, onCall } = question;
    const withinMs = conversation.until - performance.now();
    const reply = await chat.ask({ messages: [...messages], schema: jsonSchemaOf(form), signal, onCall, withinMs });
    conversation.said = reply.text;
    return reply;
  }

  return {
    name: `openai:${chat.model}`,
    asksModel: true,

    async plan(question: PlanQuestion): Promise<PlanAnswer> {
      const { intent, history, now, state, counterexample, expected } = question;
      const conversation = conversationOf(question);
      const network = retrieve({ intent, state, ...(history && { history }) });
      const form = answerForm(network);
      const messages: Message[] = [
        { role: 'system', content: SYSTEM_PROMPT },
        { role: 'user', content: questionDocument({ intent, history, now, network, expected }) },
      ];
      if (counterexample) {
        messages.push(
          { role: 'assistant', content: conversation.said ?? JSON.stringify({ changes: counterexample.changes }) },
          { role: 'user', content: counterexampleDocument(counterexample) },
        );
      }
      const first = await ask(question, conversation, messages, form);
      const judged = judge(first, form, question);
      if ('answer' in judged) return judged.answer;
      messages.push({ role: 'assistant', content: first.text }, { role: 'user', content: formDocument(judged.issues) });
      const second = judge(await ask(question, conversation, messages, form), form, question);
      if ('answer' in second) return second.answer;
      options.log.warn({ model: chat.model, issues: second.issues.length }, 'the model gave no usable plan');
      return refusal('The model gave no answer that can be used, twice. Say it in other words, or pass typed changes.');
    },

    async wording(view: WordingView, signal: AbortSignal, onCall: PlanQuestion['onCall']): Promise<string | undefined> {
      const messages: Message[] = [
        { role: 'system', content: WORDING_PROMPT },
        { role: 'user', content: wordingDocument(view) },
      ];
      try {
        const { text, refusal: refused, finish } = await chat.ask({ messages, signal, onCall, withinMs: WORDING_MS });
        const words = text.trim();
        if (refused !== undefined || finish === 'content_filter' || words === '') return undefined;
        return words.slice(0, MAX_WORDING);
      } catch (error) {
        // The plan stands without it.
        if (error instanceof MeshError) return undefined;
        throw error;
      }
    },
  };
}

type Judged = { readonly answer: PlanAnswer } | { readonly issues: readonly string[] };

/** What can be known of a reply by itself. Refusals and answers that were cut off are ends, not texts to repair. */
function judge({ text, refusal: refused, finish }: Reply, form: AnswerForm, { state }: PlanQuestion): Judged {
  if (refused !== undefined) return { answer: refusal('The model refuses to plan this.') };
  if (finish === 'length') return { answer: refusal('The answer of the model was cut off: ask for less at once.') };
  if (finish === 'content_filter') return { answer: refusal('The server of the model withheld its answer.') };
  if (text.trim() === '')
    return { answer: refusal('The model said nothing. Say it in other words, or pass typed changes.') };
  const read = readAnswer(text, form);
  if (!read.answer) {
    if (!read.outside) return { issues: read.issues };
    return { answer: refusal('The model named something that it was not shown, so its answer is not used.') };
  }
  const { understood, refusal: reason, questions, summary, reasoning, risk } = read.answer;
  if (!understood) {
    const says = reason.trim() === '' ? '' : ` ${modelSays(oneLine(reason))}`;
    return { answer: refusal(`The model did not understand the intent.${says}`, questionsOf(questions)) };
  }
  const { changes, issues } = changesOf(read.answer, state);
  if (issues.length > 0) return { issues };
  const expectations = expectationsOf(read.answer);
  if (changes.length === 0) return { issues: ['changes: there is none, yet understood is true'] };
  if (expectations.length === 0) return { issues: ['expectations: state what must hold afterwards'] };
  return {
    answer: {
      outcome: 'changes',
      changes,
      expectations,
      selfAsserted: true,
      summary: modelSays(oneLine(summary)),
      reasoning: reasoning.trim().slice(0, MAX_REASONING),
      risk,
      questions: questionsOf(questions),
    },
  };
}

function questionsOf(questions: readonly string[]): string[] {
  return questions.slice(0, MAX_QUESTIONS).map((question) => modelAsks(oneLine(question)));
}

function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT);
}

function refusal(reason: string, questions: readonly string[] = []): PlanAnswer {
  return {
    outcome: 'refused',
    reason,
    questions,
    choices: [],
  };
}
