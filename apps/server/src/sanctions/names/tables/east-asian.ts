/** Readings of names in Chinese, Japanese and Korean script that the reading of single characters gets wrong. */

function table(text: string): ReadonlyMap<string, string> {
  const words = text.trim().split(/\s+/)
  const map = new Map<string, string>()
  for (let i = 0; i + 1 < words.length; i += 2) map.set(words[i] ?? '', words[i + 1] ?? '')
  return map
}

/** Chinese surnames of two characters: the rest of the run is the given name. */
export const COMPOUND_SURNAMES = table(`
  欧阳 ouyang 歐陽 ouyang 司马 sima 司馬 sima 上官 shangguan 诸葛 zhuge 諸葛 zhuge 司徒 situ 东方 dongfang 東方 dongfang
  皇甫 huangfu 尉迟 yuchi 尉遲 yuchi 公孙 gongsun 公孫 gongsun 慕容 murong 令狐 linghu 宇文 yuwen 长孙 zhangsun
  長孫 zhangsun 司空 sikong 夏侯 xiahou 端木 duanmu 轩辕 xuanyuan 軒轅 xuanyuan 百里 baili 呼延 huyan 南宫 nangong
  南宮 nangong 西门 ximen 西門 ximen 独孤 dugu 獨孤 dugu 闻人 wenren 聞人 wenren 申屠 shentu 淳于 chunyu 公冶 gongye
  澹台 tantai 拓跋 tuoba 完颜 wanyan 完顏 wanyan 钟离 zhongli 鍾離 zhongli 东郭 dongguo 東郭 dongguo 万俟 moqi
  第五 diwu 濮阳 puyang 濮陽 puyang 太史 taishi 赫连 helian 赫連 helian
`)

/** Characters read differently when they are a surname, or that any-ascii reads in the rarer way. */
export const SURNAME_READINGS = table(`
  曾 zeng 单 shan 單 shan 解 xie 仇 qiu 查 zha 区 ou 區 ou 朴 piao 盖 ge 蓋 ge 缪 miao 繆 miao 乐 yue 樂 yue 翟 zhai
  覃 qin 洗 xian 员 yun 員 yun 秘 bi 折 she 种 chong 重 chong 召 shao 沉 shen 长 chang 長 chang 能 nai 黑 he 卜 bu
  六 lu 炅 gui 薄 bo
`)

/** Readings inside a given name where any-ascii takes another one of the character. */
export const GIVEN_READINGS = table(`
  长 chang 長 chang 藏 zang 都 du 晟 sheng 勒 le 什 shi 佛 fo
`)

/** Frequent Japanese surnames: they also tell that a name in Chinese characters has to be read in Japanese. */
export const JAPANESE_SURNAMES = table(`
  佐藤 sato 鈴木 suzuki 高橋 takahashi 田中 tanaka 伊藤 ito 渡辺 watanabe 渡邊 watanabe 渡邉 watanabe 山本 yamamoto
  中村 nakamura 小林 kobayashi 加藤 kato 吉田 yoshida 山田 yamada 佐々木 sasaki 山口 yamaguchi 松本 matsumoto 井上 inoue
  木村 kimura 斎藤 saito 斉藤 saito 齋藤 saito 清水 shimizu 山崎 yamazaki 阿部 abe 安倍 abe 池田 ikeda 橋本 hashimoto
  山下 yamashita 石川 ishikawa 中島 nakajima 前田 maeda 藤田 fujita 後藤 goto 小川 ogawa 岡田 okada 村上 murakami
  長谷川 hasegawa 近藤 kondo 石井 ishii 坂本 sakamoto 遠藤 endo 藤井 fujii 青木 aoki 西村 nishimura 福田 fukuda
  太田 ota 三浦 miura 岡本 okamoto 松田 matsuda 中川 nakagawa 中野 nakano 原田 harada 小野 ono 田村 tamura 竹内 takeuchi
  金子 kaneko 和田 wada 中山 nakayama 藤原 fujiwara 石田 ishida 上田 ueda 森田 morita 柴田 shibata 酒井 sakai
  工藤 kudo 横山 yokoyama 宮崎 miyazaki 宮本 miyamoto 内田 uchida 高木 takagi 安藤 ando 谷口 taniguchi 大野 ono
  丸山 maruyama 今井 imai 高田 takada 藤本 fujimoto 武田 takeda 村田 murata 上野 ueno 杉山 sugiyama 増田 masuda
  平野 hirano 大塚 otsuka 千葉 chiba 久保 kubo 松井 matsui 小島 kojima 岩崎 iwasaki 桜井 sakurai 野口 noguchi
  松尾 matsuo 木下 kinoshita 菊地 kikuchi 菊池 kikuchi 佐野 sano 大西 onishi 杉本 sugimoto 新井 arai 浜田 hamada
  市川 ichikawa 古川 furukawa 水野 mizuno 小松 komatsu 島田 shimada 山内 yamauchi 西田 nishida 西川 nishikawa
  北村 kitamura 五十嵐 igarashi 福島 fukushima 安田 yasuda 中田 nakata 平田 hirata 川口 kawaguchi 東 higashi
  川崎 kawasaki 飯田 iida 本田 honda 久保田 kubota 吉村 yoshimura 中西 nakanishi 服部 hattori 樋口 higuchi
  若松 wakamatsu 笹田 sasada 津田 tsuda 喜嶋 kijima 吉本 yoshimoto 宇野 uno 廣川 hirokawa 浜 hama 津 tsu 江古田 ekoda
  大垣 ogaki 小泉 koizumi 工 takumi 青山 aoyama 黒田 kuroda 三宅 miyake 土屋 tsuchiya 星野 hoshino 秋山 akiyama
`)

/** Japanese given names whose characters have another reading than in the next table. */
export const JAPANESE_GIVEN = table(`
  翔太 shota 健一 kenichi 太郎 taro 一郎 ichiro 花子 hanako 直樹 naoki 直人 naoto 裕樹 yuki 裕太 yuta 陽子 yoko 陽一 yoichi
  修平 shuhei 和也 kazuya 智也 tomoya 拓真 takuma 涼平 ryohei 亮介 ryosuke 洋介 yosuke 京助 kyosuke 康弘 yasuhiro 英樹 hideki
  篤司 atsushi 春香 haruka 明美 akemi 香織 kaori 桃子 momoko 結衣 yui 加奈 kana 千代 chiyo 直子 naoko 七夏 nanaka 真綾 maaya
  知実 tomomi 里佳 rika 裕美子 yumiko 美加子 mikako 聡太郎 sotaro 太一 taichi 浩 hiroshi 淳 jun 舞 mai 学 manabu 翼 tsubasa
  稔 minoru 充 mitsuru 幹 miki 零 rei 治 osamu 晃 akira 明 akira 健 ken 誠 makoto 隆 takashi 剛 tsuyoshi 茂 shigeru 進 susumu
  弘 hiroshi 博 hiroshi 豊 yutaka 勇 isamu 実 minoru 恵子 keiko 幸子 sachiko 和子 kazuko 洋子 yoko 京子 kyoko 裕子 yuko
  由美子 yumiko 智子 tomoko 美穂 miho 真由美 mayumi 大輔 daisuke 拓也 takuya 達也 tatsuya 哲也 tetsuya 浩二 koji 健二 kenji
  賢治 kenji 正人 masato 雅人 masato 和夫 kazuo 正雄 masao 秀樹 hideki 翔 sho 蓮 ren 葵 aoi 愛 ai 陽菜 hina 美咲 misaki 楓 kaede
`)

/** Usual Japanese name readings of single characters. */
export const JAPANESE_CHARACTERS = table(`
  子 ko 美 mi 太 ta 郎 ro 一 ichi 二 ji 三 zo 介 suke 助 suke 輔 suke 夫 o 男 o 雄 o 也 ya 之 yuki 彦 hiko 人 to 樹 ki 木 ki
  平 hei 司 shi 志 shi 治 ji 吾 go 悟 go 郁 iku 真 ma 由 yu 裕 yu 優 yu 友 tomo 智 tomo 知 tomo 和 kazu 正 masa 雅 masa
  昌 masa 明 aki 秋 aki 昭 aki 晶 aki 英 hide 秀 hide 弘 hiro 博 hiro 浩 hiro 宏 hiro 広 hiro 洋 yo 義 yoshi 良 yoshi 吉 yoshi
  芳 yoshi 佳 yoshi 孝 taka 高 taka 隆 taka 貴 taka 敬 taka 健 ken 賢 ken 憲 nori 典 nori 紀 nori 則 nori 信 nobu 伸 nobu 延 nobu
  康 yasu 泰 yasu 保 yasu 直 nao 尚 nao 春 haru 晴 haru 陽 haru 香 ka 華 ka 加 ka 花 ka 奈 na 菜 na 那 na 里 ri 理 ri 莉 ri
  恵 e 江 e 絵 e 枝 e 代 yo 世 yo 沙 sa 紗 sa 早 sa 千 chi 久 hisa 幸 yuki 雪 yuki 行 yuki 光 mitsu 充 mitsu 達 tatsu
  竜 ryu 龍 ryu 亮 ryo 涼 ryo 翔 sho 大 dai 拓 taku 卓 taku 克 katsu 勝 katsu 利 toshi 俊 toshi 敏 toshi 重 shige 茂 shige
  清 kiyo 文 fumi 章 aki 武 take 哲 tetsu 徹 tetsu 誠 makoto 忠 tada 静 shizu 節 setsu 悦 etsu 悠 yu 結 yu 衣 i 音 ne 希 ki
  喜 ki 津 tsu 綾 aya 彩 aya 梨 ri 穂 ho 実 mi 未 mi 海 mi 見 mi 山 yama 川 kawa 田 ta 本 moto 村 mura
  井 i 野 no 藤 fuji 原 hara 島 shima 崎 saki 岡 oka 森 mori 林 hayashi 橋 hashi 石 ishi 松 matsu 竹 take 上 ue 下 shita
  中 naka 小 ko 西 nishi 東 higashi 北 kita 南 minami 内 uchi 口 guchi 谷 tani 沢 sawa 澤 sawa 池 ike 水 mizu 星 hoshi
`)

/** Korean surnames in the spelling their bearers use, which is hardly ever the official one. */
export const KOREAN_SURNAMES = table(`
  김 kim 이 lee 리 ri 박 park 최 choi 정 jung 강 kang 조 cho 윤 yoon 장 jang 임 lim 림 rim 한 han 오 oh 서 seo 신 shin
  권 kwon 황 hwang 안 ahn 송 song 전 jeon 홍 hong 유 yoo 류 ryu 고 ko 문 moon 양 yang 량 ryang 손 son 배 bae 백 baek
  허 heo 남 nam 심 shim 노 noh 로 ro 하 ha 곽 kwak 성 sung 차 cha 주 joo 우 woo 구 koo 나 na 라 ra 민 min 진 jin 지 ji
  엄 eom 채 chae 원 won 천 chun 방 bang 공 kong 현 hyun 함 ham 변 byun 염 yeom 렴 ryom 여 yeo 려 ryo 추 choo 도 do
  소 so 석 seok 선 sun 설 seol 마 ma 길 gil 위 wi 표 pyo 명 myung 기 ki 반 ban 왕 wang 금 keum 옥 ok 육 yook 인 in
  맹 maeng 제 je 모 mo 탁 tak 국 kook 어 eo 은 eun 편 pyun 용 yong 태 tae 감 kam 경 kyung 봉 bong 사 sa 부 boo 가 ka
  남궁 namgung 황보 hwangbo 제갈 jegal 사공 sagong 선우 sunwoo 독고 dokgo 서문 seomun 동방 dongbang
`)
