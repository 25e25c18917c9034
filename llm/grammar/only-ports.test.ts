import { describe, expect, it } from 'vitest';
import { after, answerTo, CLOSED, EVERYONE, OPEN, openIn } from './open-between.testkit.ts';

describe('"only" before ports', () => {
  const ONLY = ['only', 'just', 'solely', 'exclusively', 'nothing but', 'nothing except'];
  const PORTED: readonly (readonly [string, number])[] = [
    ['443', 443],
    ['443 and 22', 443],
    ['ssh', 22],
    ['tcp', 443],
    ['port 443', 443],
    ['traffic on 443', 443],
    ['ssh access', 22],
    ['all ports except 22', 443],
  ];
  const VERBS = ['allow', 'permit', 'let', 'open'];
  const cases = VERBS.flatMap((verb) =>
    ONLY.flatMap((only) =>
      PORTED.map(([ports, port]): [string, number] => [`${verb} ${only} ${ports} from laptop to api-1`, port]),
    ),
  );

  it.each(cases)('is asked about, and keeps the ports in each choice: %s', (intent, port) => {
    for (const state of [OPEN, CLOSED]) {
      const answer = answerTo(intent, state);
      expect(answer.outcome).toBe('refused');
      const choices = answer.outcome === 'refused' ? answer.choices : [];
      for (const choice of choices) {
        const next = after(choice, state);
        // Others keep those ports that are not spoken of, or none; laptop never gets one that it did not have.
        const spared = intent.includes('except 22') ? 22 : 9999;
        const stays = choice.startsWith('only') ? openIn(state, ['laptop'], ['api-1'], spared) : [];
        if (!intent.includes(' tcp ')) expect(openIn(next, ['laptop'], ['api-1'], spared), choice).toEqual(stays);
      }
      const closesOnly = choices.some((choice) => {
        const next = after(choice, state);
        const others = openIn(next, ['web-1'], ['api-1'], port).length === openIn(state, ['web-1'], ['api-1']).length;
        return others && openIn(next, ['laptop'], ['api-1'], port).length === 1;
      });
      if (choices.length > 0) expect(closesOnly, JSON.stringify(choices)).toBe(true);
    }
  });

  it('is asked with both readings', () => {
    const answer = answerTo('allow only 443 from laptop to api-1', OPEN);
    const choices = answer.outcome === 'refused' ? answer.choices : [];
    expect(choices).toEqual(
      expect.arrayContaining([
        'only laptop may reach api-1 on 443/tcp',
        "let laptop reach api-1 on 443/tcp; limit laptop's access to api-1 to 443/tcp",
      ]),
    );
  });

  it.each(['let only laptop reach api-1 on 443', 'only laptop may reach api-1 on 443'])(
    'is about those who reach where it stands before them: %s',
    (intent) => {
      const next = after(intent, OPEN);
      expect(openIn(next, EVERYONE, ['api-1'], 443)).toEqual(['laptop > api-1']);
    },
  );
});
