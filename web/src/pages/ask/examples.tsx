import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { Empty } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

/** A name that reads as one word in a question. */
const WORD = /^[a-z][a-z0-9-]*$/i;
const LOOKED_AT = 20;

/** Questions about the peers and policies of this network: each has an answer. */
export function Examples({ choose }: { choose: (question: string) => void }) {
  const loaded = useLoaded(
    async () => {
      workspaceId.value;
      const query = { limit: LOOKED_AT };
      const [peers, policies] = await Promise.all([
        answer(api.GET('/api/v1/peers', { params: { query: { ...query, phase: 'ready' } } })),
        answer(api.GET('/api/v1/policies', { params: { query } })),
      ]);
      return { peers: wordsOf(peers.items), policies: wordsOf(policies.items) };
    },
    { live: false },
  );
  return <ReadResult of={loaded.value}>{(names) => <Questions names={names} choose={choose} />}</ReadResult>;
}

interface QuestionsProps {
  readonly names: { readonly peers: readonly string[]; readonly policies: readonly string[] };
  readonly choose: (question: string) => void;
}

function Questions({ names: value, choose }: QuestionsProps) {
  const [src, ...others] = value.peers;
  const dst = others.at(-1);
  const [policy] = value.policies;
  if (src === undefined || dst === undefined)
    return <Empty>No peers yet. Once devices have joined, ask why one reaches another, and since when.</Empty>;
  const questions = [
    `Since when can ${src} reach ${dst}, and why?`,
    `Who blocked ${src} from ${dst}?`,
    `Could ${src} reach ${dst} an hour ago?`,
    ...(policy === undefined ? [] : [`Who changed ${policy}?`]),
    'What changed since yesterday?',
  ];
  return (
    <Empty>
      <p>Ask what happened, and who did it. For example:</p>
      <ul class="stack-small">
        {questions.map((question) => (
          <li key={question}>
            <button type="button" class="link break" onClick={() => choose(question)}>
              {question}
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  );
}

function wordsOf(items: readonly { readonly name?: string }[]): string[] {
  return items.flatMap(({ name }) => (name !== undefined && WORD.test(name) ? [name] : []));
}
