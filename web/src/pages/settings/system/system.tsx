import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { settings } from '../../../texts/settings.ts';
import { CopyButton } from '../../../ui/copy.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';

const words = settings.system;

/** What the control plane says of itself, and the keys that sign its logs. */
export function System() {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/discovery')), { live: false });
  return (
    <>
      <section class="stack" aria-labelledby="system">
        <h2 id="system">{words.title}</h2>
        <ReadResult of={loaded.value}>
          {(value) => (
            <Facts
              facts={[
                [words.version, value.version],
                [words.edition, value.edition],
                [words.here, <Copied key="here" text={location.origin} />],
                [words.signaling, <Copied key="signaling" text={value.signalingUrl} />],
                [words.stun, <Copied key="stun" text={value.stunUrl} />],
                [words.control, <Copied key="control" text={value.controlKey} />],
                [words.controlId, <Copied key="controlId" text={value.controlKeyId} />],
              ]}
            />
          )}
        </ReadResult>
        <p class="dim">{words.more}</p>
      </section>
      <LogKeys />
    </>
  );
}

function Copied({ text }: { text: string }) {
  return text === '' ? null : (
    <>
      <code>{text}</code> <CopyButton text={text} />
    </>
  );
}

function LogKeys() {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/audit/keys')), { live: false });
  return (
    <section class="stack" aria-labelledby="keys">
      <h2 id="keys">{words.keys}</h2>
      <p class="dim">{words.keysWhy}</p>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <ul class="lines">
            {items.toReversed().map(({ fingerprint, from, until, endorsement }) => (
              <li key={fingerprint} class="row">
                <code class="break">{fingerprint}</code>
                <CopyButton text={fingerprint} />
                <span>
                  {words.from} <Time at={from} />
                  {until && [`, ${words.until.toLowerCase()} `, <Time key="until" at={until} />]}
                </span>
                {!until && <span class="tag ok">● {words.inUse}</span>}
                {endorsement && <span class="tag">{words.endorsed}</span>}
              </li>
            ))}
          </ul>
        )}
      </ReadResult>
    </section>
  );
}
