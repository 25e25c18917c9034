import { expect, test } from 'vitest';
import { suggestedQuestions } from '../../web/src/pages/ask/suggested-questions.ts';

const refusal = (message: string, lists: Readonly<Record<string, readonly string[]>>) => ({
  message,
  listed: (name: string) => lists[name] ?? [],
});

test('a name that there is not is replaced in the question by each that is near', () => {
  const problem = refusal('There was no peer "web-9" in this range.', { nearest: ['web-1', '$&'] });
  expect(suggestedQuestions('Since when can web-9 reach db?', problem)).toEqual([
    'Since when can web-1 reach db?',
    'Since when can $& reach db?',
  ]);
});

test('where the name is not in the question nothing is suggested but the choices', () => {
  const problem = refusal('Nobody was "x9" in this range.', { nearest: ['x1'], choices: ['What changed?'] });
  expect(suggestedQuestions('Since when?', problem)).toEqual(['What changed?']);
});
