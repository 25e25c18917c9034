import { afterAll, beforeAll, expect, test } from 'vitest';
import { MeshError } from '../../core/base/errors.ts';
import { redirectAnswerText } from '../../core/cause/redirect-text.ts';
import { withNames } from '../../core/model/with-nearest.ts';
import { anEvening } from '../../test/kits/plane/evening-kit.ts';

/** A question, how it is read, and the clock of the event that leads its answer, or what the answer says. */
export type QuestionRow = readonly [question: string, reading: string, answer: string | RegExp];

/** Questions about {@link anEvening}, which is there for all tests of a file. */
export function eveningQuestions() {
  let kit: Awaited<ReturnType<typeof anEvening>>;
  beforeAll(async () => {
    kit = await anEvening();
  }, 60_000);
  afterAll(() => kit[Symbol.asyncDispose]());

  /** What is understood and what is answered; where another tool answers, its words. */
  async function told(question: string): Promise<{ reading: string; words: string }> {
    try {
      const { reading, summary, next } = await kit.ask('find_cause', { question, from: '2026-01-01T00:00:00Z' });
      const words = next ? redirectAnswerText(await kit.ask(next.tool, next.arguments)) : summary;
      return { reading, words };
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      return { reading: 'REFUSED', words: withNames(error, () => true).message };
    }
  }

  /** Each is read as it is meant, every word of it is used, and its answer leads with what it asks for. */
  function answers(rows: readonly QuestionRow[]) {
    test.each(rows)('%s', async (question, reading, answer) => {
      const { reading: read, words } = await told(question);
      expect(`${read} `).toContain(reading);
      if (typeof answer === 'string') expect([leadIn(words), words]).toEqual([answer, words]);
      else expect(words).toMatch(answer);
      expect(read).not.toContain('not used');
    });
  }

  return { told, answers };
}

/** The clock of the event that an answer leads with. */
function leadIn(words: string): string | undefined {
  return /2026-01-05T(\d\d:\d\d:\d\d)\.000Z: /.exec(words)?.[1];
}
