/** An app with a built-in browser. It may refuse the camera to pages and open links only inside itself. */
export interface InAppBrowser {
  /** Null if the page is in some app whose name is unknown. */
  name: string | null
}

/** The app whose built-in browser shows this page, or null in a standalone browser. */
export function detectInAppBrowser(userAgent: string): InAppBrowser | null {
  const app = APPS.find(({ pattern }) => pattern.test(userAgent))
  if (app) return { name: app.name }
  return ANDROID_WEBVIEW.test(userAgent) || isAppleWebView(userAgent) ? { name: null } : null
}

/** The browsers of iOS end their user agent with Safari; a view inside an app does not unless the app adds it. */
function isAppleWebView(userAgent: string): boolean {
  return APPLE_MOBILE.test(userAgent) && !/\bSafari\//.test(userAgent)
}

/** The order matters: Messenger's user agent contains Facebook's marks too. */
const APPS: readonly { name: string; pattern: RegExp }[] = [
  { name: 'Messenger', pattern: /\bMessengerForiOS|\bMessengerLite|FB_IAB\/(?:Orca|MESSENGER)/ },
  { name: 'Instagram', pattern: /\bInstagram\b/ },
  { name: 'Threads', pattern: /\bBarcelona \d/ },
  { name: 'Facebook', pattern: /\bFBAN\/|\bFBAV\/|\bFB_IAB\// },
  { name: 'TikTok', pattern: /\bmusical_ly|\btrill_\d|\bTikTok\b|BytedanceWebview/i },
  { name: 'WeChat', pattern: /\bMicroMessenger\// },
  { name: 'LINE', pattern: /\bLine\/\d/ },
  { name: 'KakaoTalk', pattern: /\bKAKAOTALK\b/ },
  { name: 'Snapchat', pattern: /\bSnapchat\b/ },
  { name: 'X', pattern: /\bTwitter for \w|\bTwitterAndroid\b/ },
  { name: 'LinkedIn', pattern: /\bLinkedInApp\b/ },
  { name: 'Pinterest', pattern: /\bPinterest\// },
  { name: 'Telegram', pattern: /\bTelegram-Android\// },
  { name: 'Google', pattern: /\bGSA\/\d/ },
]

/** Browsers built on the WebView (MIUI, Huawei, DuckDuckGo …) do not have this mark. */
const ANDROID_WEBVIEW = /\bAndroid\b.*; wv\)/
const APPLE_MOBILE = /\b(?:iPhone|iPad|iPod)\b.*\bAppleWebKit\//
