import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { may } from '../../../api/workspace.ts';
import { compliance as words } from '../../../texts/compliance.ts';
import { texts } from '../../../texts/texts.ts';
import { useAct } from '../../../ui/act.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { download } from '../../../ui/download.ts';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';

/** What the archive holds beside the assessment. */
const NEEDED = ['compliance:assess', 'audit:read', 'snapshots:read', 'network:read'];

/** The archive for an auditor, and how it is verified without asking this control plane. */
export function Evidence({ id }: { id: string }) {
  const name = useSignal('mesh-compliance-evidence.zip');
  const abort = useRef<AbortController | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => () => abort.current?.abort(), []);
  const fetchArchive = () =>
    act(async () => {
      abort.current = new AbortController();
      const { signal } = abort.current;
      const body = { evidence_id: id };
      try {
        const { data, response } = await api.POST('/api/v1/ai/compliance/evidence', { body, signal, parseAs: 'blob' });
        name.value = nameOf(response) ?? name.value;
        download(name.value, data as Blob);
        say(words.downloaded(name.value));
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    });
  return (
    <section class="stack">
      <h2>{words.archive}</h2>
      <p class="dim">{words.archiveWhy}</p>
      <ProblemNotice problem={problem.value} />
      {NEEDED.every(may) ? (
        <div class="row">
          <button type="button" class="primary" disabled={isActing.value} onClick={fetchArchive}>
            {words.download}
          </button>
          {isActing.value && (
            <>
              <progress aria-label={words.making} />
              <span role="status">{words.making}</span>
              <button type="button" onClick={() => abort.current?.abort()}>
                {texts.common.cancel}
              </button>
            </>
          )}
        </div>
      ) : (
        <p class="notice">{words.archiveNeeds}</p>
      )}
      <Verify archive={name.value} />
    </section>
  );
}

function nameOf({ headers }: Response): string | undefined {
  return /filename="([\w.-]+)"/.exec(headers.get('content-disposition') ?? '')?.[1];
}

function Verify({ archive }: { archive: string }) {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/audit/keys')), { live: false });
  return (
    <div class="stack">
      <h3>{words.verify}</h3>
      <p class="dim">{words.verifyWhy}</p>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <Command archive={archive} fingerprint={items.find(({ until }) => until === null)?.fingerprint ?? ''} />
        )}
      </ReadResult>
    </div>
  );
}

function Command({ archive, fingerprint }: { archive: string; fingerprint: string }) {
  const command = `mesh evidence verify ${archive} --key ${fingerprint}`;
  return (
    <>
      <CodeBlock label={words.verify} text={command} />
      <p class="break">
        {words.fingerprint}: <code>{fingerprint}</code> <CopyButton text={fingerprint} />
      </p>
      <p class="dim">{words.fingerprintWhy}</p>
    </>
  );
}
