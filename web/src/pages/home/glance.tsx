import type { ComponentChildren } from 'preact';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Overview } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { linkTo } from '../../route/route.ts';
import { home as words } from '../../texts/home.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { NextSteps } from './next-steps.tsx';

type Warning = Overview['warnings'][number];

/** Warnings, next steps and the state of the network, around the other parts. */
export function Glance({ first, children }: { first: ComponentChildren; children: ComponentChildren }) {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/overview'));
  });
  const { value } = loaded.value;
  return (
    <>
      <ReadResult of={loaded.value}>
        {({ warnings }) => warnings.length > 0 && <Warnings warnings={warnings} />}
      </ReadResult>
      {value?.agents.total === 0 && <NextSteps overview={value} />}
      <div class="home">
        {first}
        {value && <Network overview={value} />}
        {children}
      </div>
    </>
  );
}

function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  return (
    <section class="stack-small" aria-label={words.warnings}>
      {warnings.map((warning) => (
        <div key={warning.message} class="notice warn">
          <span class="break">
            <strong>{warning.message}</strong> {warning.remedy}
          </span>
          <WarningLink code={warning.code} />
        </div>
      ))}
    </section>
  );
}

const SETTINGS_PAGE = { 'approval-ended': 'workspace', 'first-password': 'people', 'bus-exposure': 'system' } as const;

/** Where somebody who may see to it does. */
function WarningLink({ code }: { code: Warning['code'] }) {
  if (code === 'open-network') {
    return may('network:write') ? <a href={linkTo('policies', [], { view: 'new' })}>{words.toWarning[code]}</a> : null;
  }
  if (!may('members:write')) return null;
  return <a href={linkTo('settings', [SETTINGS_PAGE[code]])}>{words.toWarning[code]}</a>;
}

function Network({ overview: { peers, agents, paths, policies } }: { overview: Overview }) {
  const reported = paths.direct + paths.relayed;
  const direct = Math.round((100 * paths.direct) / reported);
  return (
    <section class="panel stack">
      <h2>{words.network}</h2>
      <div class="row">
        <a class="figure" href={linkTo('peers')}>
          {words.online(peers.online, peers.ready)}
        </a>
        {peers.pending > 0 && <span class="tag warn">{words.pending(peers.pending)}</span>}
        <a href={linkTo('policies')}>{words.policies(policies)}</a>
      </div>
      {peers.total === 0 ? (
        <p class="dim">
          {words.noPeers} {agents.total > 0 && may('tokens:write') && <a href={linkTo('join')}>{words.addDevice}</a>}
        </p>
      ) : reported === 0 ? (
        <p class="dim">{words.noPaths}</p>
      ) : (
        <div class="stack-small">
          <p>{words.paths(direct)}</p>
          <div class="share" role="img" aria-label={words.pathsLabel(direct)}>
            <span style={{ width: `${direct}%` }} />
          </div>
        </div>
      )}
    </section>
  );
}
