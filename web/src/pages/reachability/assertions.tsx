import { useSignal } from '@preact/signals';
import { readAssertions } from '../../api/assertions.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Assertion } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { Chip } from '../../design/chip.tsx';
import { queryOf } from '../../reach/asked.ts';
import { countText, portsText } from '../../reach/ports.ts';
import { linkTo, route } from '../../route/route.ts';
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
    <section class="stack" aria-label="Assertions">
      <h2>Assertions {value && value.length > 0 && <Chip>{countText(value.length)}</Chip>}</h2>
      <p class="dim">
        {isPast
          ? 'These are the assertions of now, not of then.'
          : 'What must stay true. A change that would break one is refused.'}
      </p>
      <ReadResult of={loaded.value}>
        {() =>
          sorted &&
          (sorted.length === 0 ? (
            <p class="dim">No assertions yet. Check a connection above, then assert it.</p>
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
          title={`Delete the assertion ${toDelete.name}?`}
          act="Delete assertion"
          run={() =>
            write(
              api.DELETE('/api/v1/assertions/{id}', {
                params: { path: { id: toDelete.id } },
                body: { revision: toDelete.revision },
              }),
              `The assertion ${toDelete.name} is deleted.`,
            )
          }
          close={() => (asked.value = undefined)}
        >
          <p>Changes that it refused become possible.</p>
        </Confirm>
      )}
    </section>
  );
}

function AssertionLine({ assertion, remove }: { assertion: Assertion; remove: (() => void) | undefined }) {
  const { name, spec, status } = assertion;
  const { src, dst, protocol, port, endPort } = spec;
  const [from, to] = [src, dst].map((end) => (end === '*' ? 'every peer' : end)) as [string, string];
  const ports = protocol ? ` on ${portsText([{ protocol, from: port, to: endPort ?? port }])}` : '';
  const isPort = port !== undefined && endPort === undefined;
  const question = {
    src: src === '*' ? '' : src,
    dst: dst === '*' ? '' : dst,
    protocol: protocol ?? '',
    port: isPort ? String(port) : '',
  };
  return (
    <li>
      <Chip tone={status.holds ? 'ok' : 'danger'}>
        <span aria-hidden="true">{status.holds ? '●' : '✕'}</span> {status.holds ? 'holds' : 'does not hold'}
      </Chip>
      <span class="stack-small">
        <a class="break" href={linkTo('reachability', [], queryOf(question))}>
          {spec.expect === 'reachable' ? `${from} must reach ${to}` : `${from} must not reach ${to}`}
          {ports}
        </a>
        <span class="dim small break">{status.detail === null ? name : `${name}: ${status.detail}`}</span>
      </span>
      {remove && (
        <button type="button" class="quiet push" aria-label={`Delete ${name}`} onClick={remove}>
          ✕
        </button>
      )}
    </li>
  );
}
