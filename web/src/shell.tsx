import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { askEdition, edition } from './api/edition.ts';
import { liveState, lostSince } from './api/live.ts';
import { reconnected } from './api/load.ts';
import type { Problem } from './api/problem.ts';
import { readScript } from './api/script.ts';
import { me } from './api/session.ts';
import { holds, workspace } from './api/workspace.ts';
import { Icon } from './design/icon.tsx';
import { Select } from './design/select.tsx';
import { PutBackHost } from './effect/put-back-host.tsx';
import { NoWorkspace } from './no-workspace.tsx';
import { isOffered, pageOf } from './pages/index.tsx';
import { titleOf } from './pages/names.ts';
import { PaletteButton } from './palette/palette.tsx';
import { PersonMenu } from './person-menu.tsx';
import { goTo, hrefOf, linkTo, route, setQuery } from './route/route.ts';
import { SectionTabs, Side } from './side.tsx';
import { TimeButton } from './time/time-button.tsx';
import { Brand } from './ui/brand.tsx';
import { KeysHelp } from './ui/keys-help.tsx';
import { Page } from './ui/page.tsx';
import { ProblemNotice } from './ui/problem.tsx';
import { clockTime, exactTime, shortTime } from './ui/time.tsx';

const LIVE = { live: 'live', connecting: 'connecting', lost: 'connection lost' } as const;

export function Shell() {
  const name = route.value.page || 'home';
  const entry = pageOf(name);
  return (
    <div class="shell">
      <Top />
      <Side current={name} />
      <div class={`content ${entry?.isWide ? 'wide' : ''}`}>
        <SectionTabs current={name} />
        <main id="content" class="main" tabIndex={-1}>
          {entry && !entry.hasPast && route.value.query.has('at') && (
            <p class="notice warn no-past">This page has no past: what it shows is now.</p>
          )}
          <LostNotice />
          <Content name={name} />
        </main>
      </div>
      <PutBackHost />
      <KeysHelp />
    </div>
  );
}

/** On every page: that changes are not told any more, and since when. */
function LostNotice() {
  if (lostSince.value === undefined) return null;
  return <p class="notice warn">Connection lost since {clockTime(lostSince.value)}. This page may be out of date.</p>;
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Top() {
  const { query } = route.value;
  const at = query.get('at');
  const all = me.value?.workspaces ?? [];
  return (
    <header class={`top ${at ? 'past' : ''}`}>
      <a class="button skip" href={location.hash} onClick={skip}>
        Skip to content
      </a>
      <a class="brand" href={hrefOf({ workspace: workspace.value?.slug ?? '' })}>
        <Brand />
      </a>
      {all.length > 0 && (
        <Select
          label="Workspace"
          isLabelHidden
          options={all.map(({ slug, displayName }) => ({
            value: slug,
            text: displayName === slug ? slug : `${displayName} (${slug})`,
          }))}
          value={workspace.value?.slug}
          change={(slug) => goTo(hrefOf({ workspace: slug, page: route.value.page }))}
        />
      )}
      <PaletteButton />
      {at && (
        <span class="row">
          <strong title={`${exactTime(at)}. Nothing can be changed here.`}>
            As of {shortTime(at)}
            <span class="wide-only">, read only</span>
          </strong>
          <button type="button" onClick={() => setQuery({ at: undefined })}>
            Back to now
          </button>
        </span>
      )}
      <span class="row push">
        {holds('snapshots:read') && <TimeButton />}
        {workspace.value && !at && (
          <span class={`live ${liveState.value}`} role="status">
            {LIVE[liveState.value]}
          </span>
        )}
        {isOffered('change') && !at && (
          <a class="button wide-only" href={linkTo('change')}>
            <Icon name="plus" /> {titleOf('change')}
          </a>
        )}
        <span class="wide-only">
          <PersonMenu />
        </span>
      </span>
    </header>
  );
}

function Content({ name }: { name: string }) {
  const entry = pageOf(name);
  const page = useSignal<{ readonly name: string; readonly Body: ComponentType } | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const again = useSignal(0);
  useSignalEffect(() => {
    const asked = route.value.page || 'home';
    again.value;
    reconnected.value;
    const found = pageOf(asked);
    problem.value = undefined;
    if (!found || page.peek()?.name === asked) return undefined;
    let isWanted = true;
    readScript(found.load)
      .then(({ default: Body }) => {
        if (isWanted) page.value = { name: asked, Body };
      })
      .catch((error: Problem) => {
        if (isWanted) problem.value = error;
      });
    return () => {
      isWanted = false;
    };
  });
  useSignalEffect(() => askEdition(pageOf(route.value.page)?.isPro === true));
  const reload = () => {
    again.value += 1;
  };
  if (!workspace.value) return <NoWorkspace />;
  if (!entry)
    return <Instead title="No such page" why="There is nothing at this address. Perhaps the link was cut off." />;
  const title = titleOf(name);
  if (entry.scope && !holds(entry.scope)) {
    return (
      <Instead
        title="Not shown to your role"
        why={`${title} needs ${entry.scope}, which your role in this workspace does not hold. An administrator of the workspace can give you a role that does.`}
      />
    );
  }
  if (entry.isPro && edition.value === 'community')
    return (
      <Instead
        title={title}
        why="This page is part of the Pro edition, and this control plane runs the Community edition. Whoever runs it can start it with MESH_EDITION=pro."
      />
    );
  if (problem.value) return <ProblemNotice problem={problem.value} again={reload} />;
  if (page.value?.name !== name) return null;
  const { Body } = page.value;
  return <Body key={`${workspace.value.id} ${name}`} />;
}

/** What is said where a page is not shown. */
function Instead({ title, why }: { title: string; why: string }) {
  return (
    <Page title={title}>
      <p class="break">{why}</p>
      <p>
        <a href={linkTo('')}>Back to Home</a>
      </p>
    </Page>
  );
}
