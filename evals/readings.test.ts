import { describe, expect, it } from 'vitest';
import { builtinPlanner } from '../llm/grammar/builtin.ts';
import type { Gold } from './case.ts';
import type { NetworkName } from './networks.ts';
import { tryOne } from './score.ts';

const ONLY_ON_THEIR_PORTS: Gold = {
  closes: ['* - api-1 > db-1 : tcp/5432', '* - monitor > db-1 : tcp/9100'],
};
const NOTHING_BUT_THEIR_PORTS: Gold = {
  closes: ['* - api-1 - monitor > db-1 : all', 'api-1 > db-1 : all but tcp/5432', 'monitor > db-1 : all but tcp/9100'],
};
const GRANTED: Gold = {
  opens: ['api-1 > db-1 : tcp/5432', 'monitor > db-1 : tcp/9100'],
  closes: ['role=web > db-1 : all'],
};

/** What may be meant by sentences that are asked about, each as an operator would expect it. */
const ASKED: readonly [network: NetworkName, says: readonly string[], golds: readonly Gold[]][] = [
  [
    'shop',
    [
      'nobody may reach db-1 except api-1 on 5432 and monitor on 9100',
      'db-1 may only be reached by api-1 on 5432 and monitor on 9100',
      'only api-1 on 5432 and monitor on 9100 may reach db-1',
      'let nobody reach db-1 except api-1 on 5432 and monitor on 9100',
      'block everyone from db-1 except api-1 on 5432 and monitor on 9100',
    ],
    [ONLY_ON_THEIR_PORTS, NOTHING_BUT_THEIR_PORTS],
  ],
  [
    'vault',
    [
      'nobody may reach db-1 except api-1 on 5432 and monitor on 9100',
      'db-1 may only be reached by api-1 on 5432 and monitor on 9100',
    ],
    [GRANTED, { closes: ['role=web > db-1 : all'] }],
  ],
  [
    'shop',
    ['api-1 may only reach db-1 on 5432 and web-1 on 443', 'let api-1 reach only db-1 on 5432 and web-1 on 443'],
    [
      {
        closes: [
          'api-1 > * - db-1 - web-1 : all',
          'api-1 > db-1 : all but tcp/5432',
          'api-1 > web-1 : all but tcp/443',
        ],
      },
      { closes: ['api-1 > db-1 : all but tcp/5432', 'api-1 > web-1 : all but tcp/443'] },
    ],
  ],
  [
    'shop',
    ['api-1 may reach db-1 on 443 and nobody else', 'api-1 may reach db-1 over https, nobody else'],
    [
      { closes: ['* - api-1 > db-1 : tcp/443'] },
      { closes: ['* - api-1 > db-1 : all', 'api-1 > db-1 : all but tcp/443'] },
      { closes: ['api-1 > * - db-1 : all'] },
      { closes: ['api-1 > * - db-1 : all', 'api-1 > db-1 : all but tcp/443'] },
    ],
  ],
  [
    'shop',
    ['laptop may reach api-1 on 443 and nothing else', 'let laptop reach api-1 on 443 and nothing else'],
    [
      { closes: ['laptop > * - api-1 : all', 'laptop > api-1 : all but tcp/443'] },
      { closes: ['laptop > api-1 : all but tcp/443'] },
    ],
  ],
  [
    'shop',
    ['let anna-mac reach web-1 on 22, and close everything else from laptop'],
    [{ closes: ['laptop > * : all'] }, { closes: ['laptop > * - web-1 : all'] }],
  ],
  [
    'shop',
    ['let web-1 reach db-1 on 5432 and close everything else from db-1'],
    [{ closes: ['db-1 > * : all'] }, { closes: ['* - web-1 > db-1 : all'] }],
  ],
  [
    'vault',
    [
      'let anna-mac reach db-1 on 5432 for two hours, then for good',
      'let anna-mac reach db-1 on 5432 for 2h and then permanently',
    ],
    [
      { opens: ['anna-mac > db-1 : tcp/5432'] },
      { opens: ['anna-mac > db-1 : tcp/5432'], ends: '2026-01-05T14:00:00.000Z' },
    ],
  ],
  [
    'shop',
    ['isolate web-1 for 2 hours, then forever'],
    [
      { closes: ['* > web-1 : all', 'web-1 > * : all'] },
      { closes: ['* > web-1 : all', 'web-1 > * : all'], ends: '2026-01-05T14:00:00.000Z' },
    ],
  ],
  [
    'vault',
    ['only https and ping may reach the web servers', 'the web servers may only be reached on https and ping'],
    [{ opens: ['* > role=web : tcp/443, icmp'] }, {}],
  ],
  [
    'vault',
    ['nobody but anna-mac may ssh anywhere', 'only anna-mac may ssh into any machine'],
    [{ opens: ['anna-mac > * : tcp/22'] }, {}],
  ],
  [
    'shop',
    ['block everyone except api-1 except monitor from db-1', 'block everyone from db-1 except api-1 except monitor'],
    [{ closes: ['* - api-1 - monitor > db-1 : all'] }],
  ],
  [
    'shop',
    ['let everyone except laptop except monitor reach db-1'],
    [{ closes: ['laptop > db-1 : all', 'monitor > db-1 : all'] }],
  ],
];

describe('a sentence that may mean several things', () => {
  it.each(ASKED.flatMap(([network, says, golds]) => says.map((one) => ({ network, says: one, golds }))))(
    'is asked about, with each as a choice that is planned exactly: $says ($network)',
    async ({ network, says, golds }) => {
      for (const gold of golds) {
        const one = { family: 'ambiguous', on: [network], says: [says], gold } as const;
        const trial = await tryOne(builtinPlanner, { one, network, says }, new AbortController().signal);
        expect([trial.outcome, trial.exactByChoice, gold]).toEqual(['asked', true, gold]);
      }
    },
  );
});
