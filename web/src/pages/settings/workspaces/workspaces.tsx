import { me } from '../../../api/session.ts';
import { hrefOf } from '../../../route/route.ts';
import { WorkspaceForm } from '../../../workspace-form.tsx';

/** The workspaces of the person, and one more. */
export function Workspaces() {
  const all = me.value?.workspaces ?? [];
  return (
    <>
      <section class="stack-small" aria-labelledby="workspaces">
        <h2 id="workspaces">Workspaces</h2>
        <ul class="lines">
          {all.map(({ slug, displayName, role }) => (
            <li key={slug} class="row">
              <a class="break" href={hrefOf({ workspace: slug })}>
                {displayName}
              </a>
              <span class="dim break">{slug}</span>
              <span class="dim push">{role}</span>
            </li>
          ))}
        </ul>
      </section>
      <section class="stack" aria-labelledby="new-workspace">
        <h2 id="new-workspace">New workspace</h2>
        <WorkspaceForm />
      </section>
    </>
  );
}
