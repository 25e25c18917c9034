import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { Chip } from '../../../design/chip.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';

/** What the control plane says of itself, and the keys that sign its logs. */
export function System() {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/discovery')), { live: false });
  return (
    <>
      <section class="stack" aria-labelledby="system">
        <h2 id="system">This control plane</h2>
        <ReadResult of={loaded.value}>
          {(value) => (
            <Facts
              facts={[
                ['Version', value.version],
                ['Edition', value.edition],
                ['Dashboard and API', <Copied key="here" text={location.origin} />],
                ['Signaling bus', <Copied key="signaling" text={value.signalingUrl} />],
                ['STUN server', <Copied key="stun" text={value.stunUrl} />],
                ['Control key', <Copied key="control" text={value.controlKey} />],
                ['Id of the control key', <Copied key="controlId" text={value.controlKeyId} />],
              ]}
            />
          )}
        </ReadResult>
        <p class="dim">
          Storage, limits and listeners are set in config.yaml and the environment of the control plane. meshd --help
          lists the variables; meshd doctor checks the installation.
        </p>
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
      <h2 id="keys">Keys of the audit logs</h2>
      <p class="dim">
        Each key signs the checkpoints and evidence of its time. Compare the fingerprint with the one from your
        operator, and pin it.
      </p>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <ul class="lines">
            {items.toReversed().map(({ fingerprint, from, until, endorsement }) => (
              <li key={fingerprint} class="row">
                <code class="break">{fingerprint}</code>
                <CopyButton text={fingerprint} />
                <span>
                  From <Time at={from} />
                  {until && [', until ', <Time key="until" at={until} />]}
                </span>
                {!until && <Chip tone="ok">● in use</Chip>}
                {endorsement && <Chip>endorsed by the previous key</Chip>}
              </li>
            ))}
          </ul>
        )}
      </ReadResult>
    </section>
  );
}
