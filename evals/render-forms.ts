import { SHAPES } from '../llm/grammar/forms.ts';
import { KNOWN_SERVICES } from '../llm/grammar/services.ts';
import { FORM_EXAMPLES, REFUSED } from './forms.ts';

/** The page of everything the built-in planner understands, made from the examples that its tests run. */
export function renderForms(): string {
  return [
    '# What the built-in planner understands',
    '',
    'Made from `evals/forms.ts` by `UPDATE_FORMS=1 npx vitest run evals/forms.test.ts`; each example is a test with its effect.',
    'Every word is used, known to be without meaning, or asked about; a refusal offers whole sentences that are planned as they stand.',
    'Nothing is guessed. Case, articles and a closing full stop do not matter.',
    '',
    '## Sentences',
    '',
    ...SHAPES.map((shape) => `- \`${shape}\``),
    '',
    '## Parts',
    '',
    `- **Who**: a peer by name (\`peer web-1\`), a label (\`role=web\`), the value of any label in singular or plural (\`the web servers\`), \`group backend\`, \`everyone\`; several with commas and \`and\`. Quotes mean a name letter by letter.`,
    `- **Ports**: \`on port 443\`, \`on ports 80 and 443\`, \`on ports 8000-8100\`, \`over udp port 53\`, \`53/udp\`; services: ${Object.keys(KNOWN_SERVICES).join(', ')}.`,
    "- **Time**: `for 2 hours`, `for 1h30m`, `for half an hour`, `until 18:00`, `until tomorrow`, `until friday 9am`, `until 2030-01-31T12:00:00Z`. Days and clocks are those of the workspace's time zone (`timeZone` of its settings) unless another is named (`until 18:00 Zurich time`, `18:00 UTC`, `18:00 +02:00`); the plan says the instant by them and in UTC.",
    '- **Except**: `everyone except ci`, `the web servers other than web-2`, `all ports except 22`. Those left out are kept from it: what they may reach today is denied. What is forbidden may leave out a part by side and port: `isolate web-1 except ssh from ops`, `block web from everyone except 5432 to db`. `everyone unless they are role=web` and `everyone who is not role=web` leave out the same.',
    '- **Only**: said of a port it closes that port alone (`only web may reach db on 5432`); `limit access to db to web on 5432` closes all else. `alone` is `only` (`reachable by web alone`); `only https may reach web` closes all other ports. Several with ports of their own (`limit access to db to web on 5432 and ci on 22`) are each let alone on theirs.',
    '- **Why**: `because …`, `so that …` and `due to …` may follow; a word in them that restricts is asked about.',
    '- **Remarks**: a clause that only tells something (`…, the nightly job depends on it`) changes nothing and is shown beside the plan; one that names a port, a time, a restriction or somebody else is asked about.',
    '- **Besides**: `other ports stay as they are`, `no other outbound`, `nothing in, nothing out` after a sentence that they go with; `close everything else from web` closes all that web reaches but what was said, `close everything else to db` all that reaches it.',
    '- **Which ones**: several words must all hold (`the prod web servers`, `databases in staging`, `role=web,env=prod`); a number must be right (`the two databases`); a singular with an article is one (`the historian`), and asked about where it is several. Addresses: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`, `the internet`.',
    '- **Follow-ups**, where the caller sends what was said before: `and also on 443`, `make it only for 1 hour`, `the same for ci`, `also to the cache`, `undo that`.',
    '- **And nobody else** at the end: what others were granted to the same target is taken back too. Said of a port (`let web reach db on 5432 and nobody else`) it closes that port alone, as `only` does. `And nothing else` is planned where all else is closed already, and asked about elsewhere.',
    '',
    '## Examples',
    '',
    ...Object.entries(FORM_EXAMPLES).flatMap(([group, examples]) => [
      `### ${group[0]?.toUpperCase()}${group.slice(1)}`,
      '',
      ...examples.map(({ says }) => `- \`${says}\``),
      '',
    ]),
    '## Refused',
    '',
    ...REFUSED.map(([says]) => `- \`${says}\``),
    '',
  ].join('\n');
}
