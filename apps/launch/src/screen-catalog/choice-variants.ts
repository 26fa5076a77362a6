import type { Handoff, LaunchState } from '@ostiary/contract'
import type { State } from '../flow/states.ts'
import type { View } from '../flow/view.ts'
import type { Variant } from './variant.ts'

type On = (state: State, more: Partial<View>) => Variant

const LINKS: Partial<View> = {
  links: {
    alternative: 'https://larkfield.example/other-way',
    privacy: 'https://larkfield.example/privacy',
    support: 'https://larkfield.example/help',
  },
}

const CODE: Handoff = {
  code: 'k3v9Qm2XbT7wLr8ZpN4yHs6d',
  url: 'https://id.example/launch/?sessionId=0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b#h=k3v9Qm2XbT7wLr8ZpN4yHs6d',
  expiresAt: '2026-11-17T12:00:00.000Z',
  number: '47',
}

/** What users can choose beside the shortest way: other movements, more time, another way, staying at the end. */
export function choices(on: On, session: LaunchState, over: LaunchState, nowMs: number): Record<string, Variant> {
  const welcome = (more: Partial<View>) => on({ at: 'welcome', answering: false }, more)
  const capture = {
    phase: 'challenge',
    guidance: null,
    movement: null,
    movementsSeen: 0,
    movementsTotal: 3,
    progress: 0.1,
  } as const
  const soon = { ...session, expiresAt: new Date(nowMs + 92_000).toISOString() }
  return {
    'welcome-ages': welcome({ ages: { age: 18, estimate: 25 }, ...LINKS }),
    'welcome-ages-nobody': welcome({ ages: { age: 16, estimate: null }, brand: null }),
    'welcome-extend': welcome({ session: soon, mayExtend: true }),
    'camera-links': on({ at: 'camera', status: 'permission_denied' }, LINKS),
    'camera-in-app': on({ at: 'camera', status: 'permission_denied' }, { ...LINKS, inApp: { name: 'Chatterbox' } }),
    'handoff-in-app': on(
      { at: 'handoff', status: 'ready' },
      { handoff: CODE, number: '47', inApp: { name: 'Chatterbox' } },
    ),
    'handoff-in-app-making': on({ at: 'handoff', status: 'making' }, { inApp: { name: null } }),
    'capture-ready': on({ at: 'capture' }, { capture }),
    'capture-ready-more-time': on({ at: 'capture' }, { capture, moreTime: true }),
    'capture-others': on(
      { at: 'capture' },
      { capture: { ...capture, phase: 'find', guidance: 'in_oval' }, cannot: ['turn'], moreTime: true },
    ),
    'capture-expiring': on(
      { at: 'capture' },
      { capture: { ...capture, movement: 'turn_left' }, session: soon, mayExtend: true },
    ),
    'retry-cannot': on({ at: 'retry', tip: 'quality' }, { ...LINKS, cannot: ['turn'] }),
    'retry-more-time': on({ at: 'retry', tip: 'neutral' }, { ...LINKS, cannot: ['turn', 'up'], moreTime: true }),
    'done-stays': on({ at: 'done' }, { session: over, stays: true }),
    'done-links': on({ at: 'done' }, { session: over, ...LINKS }),
    'ended-links': on({ at: 'ended' }, { session: over, ...LINKS, stays: true }),
  }
}
