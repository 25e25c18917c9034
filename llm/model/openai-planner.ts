import { MeshError } from '../../core/base/errors.ts';
import { createQuotas } from '../../core/base/quotas.ts';
import { modelAsks, modelSays } from '../../core/intent/plan/model-words.ts';
import type { PlanAnswer, Planner, PlanQuestion, WordingView } from '../../core/intent/plan/planner.ts';
import { retrieve } from '../retrieval/retrieval.ts';
import { type AnswerForm, answerForm, jsonSchemaOf } from './answer-form.ts';
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
import { readAnswer } from './read-answer.ts';

const MAX_TEXT = 400;
const MAX_REASONING = 2_000;
const MAX_WORDING = 1_500;
/** A plan waits no longer for words that decide nothing. */
const WORDING_MS = 3_000;
const MAX_QUESTIONS = 5;
/** Sentences under way at once, on the thread that serves everyone; one caller alone has four of them. */
const MAX_TURNS = 32;

/** Answers that one question may take in all: the second corrects the first. */
const ROUNDS = 2;

interface Conversation {
  /** By `performance.now()`. */
  readonly until: number;
  rounds: number;
  /** The last answer of the model. */
  said?: string;
}

type Message =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string };

/**
 * A planner that asks a model behind an OpenAI-compatible server for orders. Its answer is only a proposal: nothing checks that
 * the orders are what was meant (docs/decisions/0011-model-plans-prove-nothing.md).
 */
export function openAiPlanner(options: ChatOptions): Planner {
  const chat = openAiChat(options);
  /** By the signal that the turns of one question share. */
  const conversations = new WeakMap<AbortSignal, Conversation>();

  function conversationOf({ signal, counterexample }: PlanQuestion): Conversation {
    const known = counterexample && conversations.get(signal);
    if (known) return known;
    const until = performance.now() + ROUNDS * (options.timeoutMs ?? TIMEOUT_MS);
    const begun: Conversation = { until, rounds: 0 };
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
    conversation.rounds += 1;
    const reply = await chat.ask({ messages: [...messages], schema: jsonSchemaOf(form), signal, onCall, withinMs });
    conversation.said = reply.text;
    return reply;
  }

  return {
    name: `openai:${chat.model}`,
    modelTurns: createQuotas('sentences that a model reads', MAX_TURNS),

    async plan(question: PlanQuestion): Promise<PlanAnswer> {
      const { intent, history, state, counterexample } = question;
      const conversation = conversationOf(question);
      if (conversation.rounds >= ROUNDS) return refusal('The model was asked twice.');
      const network = retrieve({ intent, state, ...(history && { history }) });
      const form = answerForm(network);
      const messages: Message[] = [
        { role: 'system', content: SYSTEM_PROMPT },
        { role: 'user', content: questionDocument({ ...question, network }) },
      ];
      if (counterexample) {
        messages.push(
          { role: 'assistant', content: conversation.said ?? JSON.stringify({ orders: counterexample.orders ?? [] }) },
          { role: 'user', content: counterexampleDocument(counterexample) },
        );
      }
      for (;;) {
        const reply = await ask(question, conversation, messages, form);
        const judged = judge(reply, form);
        if ('answer' in judged) return judged.answer;
        if (conversation.rounds >= ROUNDS) {
          options.log.warn({ model: chat.model, issues: judged.issues.length }, 'the model gave no usable plan');
          return refusal('The model gave no answer that can be used, twice. Send orders instead.');
        }
        messages.push(
          { role: 'assistant', content: reply.text },
          { role: 'user', content: formDocument(judged.issues) },
        );
      }
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

/** Reads a reply. Refusals and answers that were cut off are ends, not texts to repair. */
function judge({ text, refusal: refused, finish }: Reply, form: AnswerForm): Judged {
  if (refused !== undefined) return { answer: refusal('The model refuses to plan this.') };
  if (finish === 'length') return { answer: refusal('The answer of the model was cut off: ask for less at once.') };
  if (finish === 'content_filter') return { answer: refusal('The server of the model withheld its answer.') };
  if (text.trim() === '') return { answer: refusal('The model said nothing. Send orders instead.') };
  const read = readAnswer(text, form);
  if (!read.answer) {
    if (!read.outside) return { issues: read.issues };
    return { answer: refusal('The model named something that it was not shown, so its answer is not used.') };
  }
  const { answer, ordered } = read;
  if (!answer.understood) {
    const says = answer.refusal.trim() === '' ? '' : ` ${modelSays(oneLine(answer.refusal))}`;
    return { answer: refusal(`The model did not understand the intent.${says}`, questionsOf(answer.questions)) };
  }
  const { orders, set = [], delete: deleted = [], documents = [] } = ordered;
  if (orders.length + set.length + deleted.length + documents.length === 0) {
    return { issues: ['orders: there is none, yet understood is true'] };
  }
  const { reasoning, risk } = answer;
  return {
    answer: {
      outcome: 'orders',
      ...ordered,
      selfAsserted: true,
      reasoning: reasoning.trim().slice(0, MAX_REASONING),
      risk,
      questions: questionsOf(answer.questions),
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
