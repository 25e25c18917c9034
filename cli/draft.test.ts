import { expect, test } from 'vitest';
import { rethrowWithDraft } from './draft.ts';
import { CliError, EXIT } from './exit.ts';

test('a sentence that is not understood comes with its draft as commands, and the names near its words', () => {
  const draft = {
    orders: [
      { do: 'allow', from: [], to: ['role=db', 'web-1'], ports: ['tcp/5432', '!tcp/22'], both_ways: true },
      { do: 'remove', from: ['web-1'], to: ['db-1'], except_to: ['db-2'], for: '2h' },
    ],
  };
  const vocabulary = { labels: [], near: [{ word: 'wbe', names: ['web-1', 'role=web'] }] };
  const error = new CliError('Who is wbe?', EXIT.input, { code: 'intent_not_understood', draft, vocabulary });
  expect(() => rethrowWithDraft(error)).toThrow(
    [
      'Who is wbe?',
      'Draft, with … for what to fill in:',
      "  mesh allow … 'role=db web-1' --port tcp/5432 --port '!tcp/22' --both-ways",
      '  mesh remove-access web-1 db-1 --except-to db-2 --for 2h',
      'Not known:',
      '  wbe: did you mean web-1 or role=web?',
    ].join('\n'),
  );
});

test('any other failure stays as it is', () => {
  const error = new CliError('No.', EXIT.input, { code: 'invalid_input' });
  expect(() => rethrowWithDraft(error)).toThrow(error);
});
