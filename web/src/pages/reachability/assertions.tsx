import { useSignal } from '@preact/signals';
import { readAssertions } from '../../api/assertions.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Assertion } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { queryOf } from '../../reach/asked.ts';
import { countText, portsText } from '../../reach/ports.ts';
import { linkTo, route } from '../../route/route.ts';
import { reachability as words } from '../../texts/reachability.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

/** What must stay true, those that do not hold first. */
export function Assertions() {
  const loaded = useLoaded(readAssertions);
  const asked = useSignal<Assertion | undefined>(undefined);
  const { value } = loaded.value;
  const isPast = route.value.query.has('at');
  const sorted = value?.toSorted((a, b) => Number(a.status.holds) - Number(b.status.holds));
  const toDelete = asked.value;
  return (
    <section class="stack" aria-label={words.assertions}>
      <h2>
        {words.assertions} {value && value.length > 0 && <span class="tag">{countText(value.length)}</span>}
      </h2>
      <p class="dim">{isPast ? words.assertionsNow : words.assertionsWhy}</p>
      <ReadResult of={loaded.value}>
        {() =>
          sorted &&
          (sorted.length === 0 ? (
            <p class="dim">{words.noAssertions}</p>
          ) : (
            <ul class="lines panel">
              {sorted.map((assertion) => (
                <AssertionLine
                  key={assertion.name}
                  assertion={assertion}
                  remove={!isPast && may('network:write') ? () => (asked.value = assertion) : undefined}
                />
              ))}
            </ul>
          ))
        }
      </ReadResult>
      {toDelete && (
        <Confirm
          title={words.deleteTitle(toDelete.name)}
          act={words.deleteAct}
          run={() =>
            write(
              api.DELETE('/api/v1/assertions/{id}', {
                params: { path: { id: toDelete.id } },
                body: { revision: toDelete.revision },
              }),
              words.deleted(toDelete.name),
            )
          }
          close={() => (asked.value = undefined)}
        >
          <p>{words.deleteWhy}</p>
        </Confirm>
      )}
    </section>
  );
}

function AssertionLine({ assertion, remove }: { assertion: Assertion; remove: (() => void) | undefined }) {
  const { name, spec, status } = assertion;
  const { src, dst, protocol, port, endPort } = spec;
  const [from, to] = [src, dst].map((end) => (end === '*' ? words.everyone : end)) as [string, string];
  const ports = protocol ? words.on(portsText([{ protocol, from: port, to: endPort ?? port }])) : '';
  const isPort = port !== undefined && endPort === undefined;
  const question = {
    src: src === '*' ? '' : src,
    dst: dst === '*' ? '' : dst,
    protocol: protocol ?? '',
    port: isPort ? String(port) : '',
  };
  return (
    <li>
      <span class={`tag ${status.holds ? 'ok' : 'danger'}`}>
        <span aria-hidden="true">{status.holds ? '●' : '✕'}</span> {status.holds ? words.holds : words.broken}
      </span>
      <span class="stack-small">
        <a class="break" href={linkTo('reachability', [], queryOf(question))}>
          {spec.expect === 'reachable' ? words.must(from, to) : words.mustNot(from, to)}
          {ports}
        </a>
        <span class="dim small break">{status.detail === null ? name : `${name}: ${status.detail}`}</span>
      </span>
      {remove && (
        <button type="button" class="quiet push" aria-label={words.delete(name)} onClick={remove}>
          ✕
        </button>
      )}
    </li>
  );
}
