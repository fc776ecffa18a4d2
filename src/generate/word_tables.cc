#include "generate/tables.h"

namespace espalier {
namespace {

constexpr TopicRow kTopics[kNumTopics] = {
    {"sports", 16},  {"finance", 15}, {"politics", 14}, {"travel", 13},
    {"weather", 12}, {"science", 11}, {"cooking", 10},  {"music", 9},
};

constexpr ListRow kLists[] = {
    {"noun", WordKind::noun, 80, 17},           {"role", WordKind::noun, 80, 17},
    {"transitive", WordKind::verb, 64, 33},     {"intransitive", WordKind::verb, 64, 33},
    {"adjective", WordKind::adjective, 64, 33}, {"measure", WordKind::noun, 90, 0},
    {"institution", WordKind::fixed, 65, 30},   {"saying", WordKind::verb, 0, 100},
    {"wanting", WordKind::verb, 0, 100},
};

constexpr WordsRow kWords[] = {
    // Words of no topic.
    {"noun", "",
     "plan year day week group thing way place problem part case result hand start report change answer "
     "question number end idea point story house door table road book letter room light line picture box "
     "window paper garden friend family street name word watch offer visit test call wall key list rule "
     "step reason chance turn look sign mistake corner building bridge gate lamp shelf/shelves basket "
     "wheel rope bell mirror ladder tool bottle"},
    {"role", "",
     "man/men woman/women child/children neighbour expert leader manager worker teacher visitor owner "
     "friend student driver reporter stranger"},
    {"transitive", "",
     "see/saw/seen make/made/made take/took/taken give/gave/given find/found/found show/showed/shown want "
     "use need watch plan like start help change follow call keep/kept/kept bring/brought/brought "
     "leave/left/left move hold/held/held open close build/built/built check offer test visit "
     "choose/chose/chosen lose/lost/lost accept describe expect finish ignore improve mention notice "
     "prepare protect remember remove repeat replace share support turn"},
    {"intransitive", "",
     "work wait stay arrive happen appear begin/began/begun change turn move stop live talk look "
     "fall/fell/fallen rise/rose/risen remain stand/stood/stood sit/sat/sat return start end continue "
     "disappear sleep/slept/slept"},
    {"adjective", "",
     "new good/well old big small long/long high early young large different late/late important great "
     "short open hard clear recent strange simple quiet easy strong bright careful famous fresh narrow "
     "heavy warm plain proud rare sharp calm bold brief clever direct exact fair gentle modest neat odd "
     "polite rough safe steady tidy useful wide"},
    {"saying", "",
     "say/said/said think/thought/thought report know/knew/known claim believe explain announce "
     "hear/heard/heard suggest hope admit warn expect insist doubt"},
    {"wanting", "", "want plan try hope need agree decide promise refuse offer expect start learn fail"},

    // Sports.
    {"noun", "sports",
     "team match game goal season win player cup ball race league score title pitch point final club shot "
     "record round defeat pass court medal stadium tournament penalty injury track half/halves bat "
     "champion lead serve drive kick trophy jersey racket sprint marathon derby tackle whistle net bench "
     "press star pressure crowd transfer"},
    {"role", "sports",
     "coach player captain referee striker fan goalkeeper runner champion defender rival fitter"},
    {"transitive", "sports",
     "beat/beat/beaten win/won/won score kick coach pass play defend tackle catch/caught/caught "
     "throw/threw/thrown train lead/led/led sign bench chase race press serve drive/drove/driven"},
    {"intransitive", "sports",
     "play run/ran/run train race win/won/won score jump sprint compete swim/swam/swum dive lead/led/led"},
    {"adjective", "sports",
     "fast/fast fit athletic winning unbeaten injured keen tough eager sporty agile fierce swift lively "
     "muscular strong"},
    {"measure", "sports", "goal point metre lap yard set"},
    {"institution", "sports", "United Rovers Athletic City Wanderers League Club Stadium"},

    // Finance.
    {"noun", "finance",
     "market bank share price stock profit rate company loan fund deal tax bond trade debt investor cost "
     "budget account sale firm dividend loss asset currency payment contract merger note interest quarter "
     "forecast growth margin portfolio broker index charge cut record model pension mortgage rally lease "
     "cap transfer bill risk return option"},
    {"role", "finance",
     "investor banker trader analyst broker lender auditor accountant buyer shareholder clerk treasurer"},
    {"transitive", "finance",
     "buy/bought/bought sell/sold/sold trade price invest fund lend/lent/lent borrow raise cut/cut/cut "
     "tax charge forecast pay/paid/paid bank audit issue cap merge float lease"},
    {"intransitive", "finance",
     "rise/rose/risen fall/fell/fallen trade grow/grew/grown invest slump rally drop recover climb "
     "default expand"},
    {"adjective", "finance",
     "financial weak cheap costly annual quarterly private steady risky global foreign solvent liquid "
     "rich gross net flat stable"},
    {"measure", "finance", "percent/percent dollar point share euro cent"},
    {"institution", "finance", "Bank Holdings Capital Insurance Partners Group Trust Exchange"},

    // Politics.
    {"noun", "politics",
     "government law vote party election minister bill policy council campaign tax court reform debate "
     "parliament border budget treaty speech poll power seat front race state office protest scandal "
     "coalition committee motion ballot charter senate veto/vetoes cabinet ally pledge crisis/crises "
     "summit leak rally strike bench plan majority report right"},
    {"role", "politics",
     "minister senator voter mayor president leader lawyer ambassador judge critic campaigner deputy"},
    {"transitive", "politics",
     "vote pass elect reform govern back oppose debate pledge block ban approve amend sign reject "
     "campaign lead/led/led appoint draft"},
    {"intransitive", "politics",
     "vote resign campaign rule protest speak/spoke/spoken march debate govern strike/struck/struck step "
     "rally"},
    {"adjective", "politics",
     "political public national local liberal radical foreign federal legal bitter corrupt fair loyal "
     "moderate secret civil democratic"},
    {"measure", "politics", "vote seat percent/percent term"},
    {"institution", "politics", "Council Party Senate Ministry Court Alliance Commission Trust"},

    // Travel.
    {"noun", "travel",
     "trip hotel train flight city beach map ticket guide island station passport journey tour airport "
     "road mountain coast bag village bank drive museum tourist luggage/luggage ferry cruise harbour visa "
     "castle trail hostel market resort bus car cabin lake season route platform suitcase souvenir desert "
     "tent border view track bar shore record"},
    {"role", "travel", "tourist guide pilot traveller passenger driver sailor guest hiker porter steward"},
    {"transitive", "travel",
     "visit book tour explore cross board guide drive/drove/driven pack reach map leave/left/left "
     "fly/flew/flown sail hike rent photograph climb admire"},
    {"intransitive", "travel",
     "travel fly/flew/flown sail arrive drive/drove/driven hike land camp depart wander cruise walk climb"},
    {"adjective", "travel",
     "remote scenic sunny foreign historic cheap distant ancient crowded coastal lovely wild steep exotic "
     "rural cosy rocky"},
    {"measure", "travel", "mile night hour kilometre day"},
    {"institution", "travel", "Airways Hotel Tours Railway Airport Museum Lines Club"},

    // Weather.
    {"noun", "weather",
     "storm rain wind cloud snow sky forecast flood temperature front shower sun heat degree frost season "
     "pressure thunder/thunder fog coast breeze winter hail/hail drought summer gale sunshine/sunshine "
     "climate warning drizzle lightning/lightning mist valley record wave umbrella blizzard hurricane "
     "rainbow puddle current north/north spell low high draught ice/ice chart"},
    {"role", "weather", "forecaster farmer resident driver sailor observer skier walker warden"},
    {"transitive", "weather",
     "forecast flood hit/hit/hit cover freeze/froze/frozen soak cool warm cloud batter threaten cross "
     "measure chart chill reach delay darken"},
    {"intransitive", "weather",
     "rain snow blow/blew/blown fall/fell/fallen clear melt freeze/froze/frozen drift pour cool "
     "rise/rose/risen thaw pass"},
    {"adjective", "weather",
     "cold wet warm dry windy sunny cloudy stormy mild heavy severe cool foggy icy humid frosty bleak light"},
    {"measure", "weather", "degree inch knot mile hour"},
    {"institution", "weather", "Observatory Agency Station Institute Council Airport"},

    // Science.
    {"noun", "science",
     "study cell theory star experiment planet model test energy method atom gene sample data/data "
     "laboratory discovery particle signal brain paper wave field species/species scale virus telescope "
     "formula protein magnet orbit degree crystal pressure bond chart current fossil comet enzyme laser "
     "reaction microscope neuron quantum/quanta lens solution charge record plate forecast acid"},
    {"role", "science",
     "scientist researcher professor student chemist physicist biologist inventor engineer scholar"},
    {"transitive", "science",
     "study test measure discover model observe publish prove analyse detect predict sample heat explain "
     "calculate map record orbit isolate compute"},
    {"intransitive", "science",
     "react orbit evolve glow decay vibrate expand form collide mutate dissolve work"},
    {"adjective", "science",
     "scientific nuclear chemical random exact complex genetic solar magnetic tiny stable rare organic "
     "linear molecular liquid net"},
    {"measure", "science", "gram metre degree percent/percent volt hour"},
    {"institution", "science", "Institute Observatory Laboratory College Academy Museum Foundation"},

    // Cooking.
    {"noun", "cooking",
     "recipe sauce oven dish pan soup butter onion cake cup bread pot knife/knives plate dough stock "
     "salad spoon egg garlic pepper kitchen bowl cheese meal potato/potatoes flavour herb tomato/tomatoes "
     "lemon scale pie spice crust market stew season carrot noodle roast grill bean bake pastry menu "
     "syrup bar roll fork batter mix heat oil plum"},
    {"role", "cooking", "cook chef baker waiter guest butcher grocer diner farmer host"},
    {"transitive", "cooking",
     "cook bake stir mix boil chop slice roast add fry grill season serve taste heat peel pour stock melt "
     "whisk plate freeze/froze/frozen"},
    {"intransitive", "cooking",
     "cook simmer boil bake melt cool thicken eat/ate/eaten dine brown rise/rose/risen"},
    {"adjective", "cooking",
     "hot sweet fresh salty spicy tender ripe crisp tasty sour bitter raw creamy light rich warm cool dry"},
    {"measure", "cooking", "gram cup spoon minute litre slice"},
    {"institution", "cooking", "Kitchen Bakery Foods Market Brewery Grill Hotel"},

    // Music.
    {"noun", "music",
     "song band album concert note guitar stage record tune singer piano show drum melody star chord "
     "scale track fan rhythm bar choir pitch orchestra key single bass tour opera violin festival string "
     "beat lyric studio audience hit ballad chorus score flute trumpet party microphone encore duet rock "
     "cello sound solo harp"},
    {"role", "music",
     "singer musician composer drummer guitarist conductor fan pianist producer dancer critic"},
    {"transitive", "music",
     "play sing/sang/sung record compose perform tune release write/wrote/written tour conduct score hum "
     "produce rehearse pitch strum hear/heard/heard"},
    {"intransitive", "music",
     "play sing/sang/sung perform dance tour rehearse record rock hum drum fade sound"},
    {"adjective", "music",
     "loud soft musical live acoustic lively slow classical sad catchy deep flat sharp vocal mellow "
     "choral late"},
    {"measure", "music", "bar note beat minute song"},
    {"institution", "music", "Records Orchestra Choir Opera Festival Quartet Academy Hall"},

    // Small words.
    {"the-NN", "", "the the the the the a a a this that every each no another"},
    {"the-NNS", "", "the the the the some many these all those both no"},
    {"the", "", "the"},
    {"he", "", "he she it"},
    {"they", "", "they we you"},
    {"him", "", "it them him us"},
    {"which", "", "that which"},
    {"that", "", "that"},
    {"when", "", "because after when if before while although since until"},
    {"and", "", "and and and or"},
    {"to", "", "to"},
    {"modal", "", "will may can would could must should might"},
    {"is", "", "is"},
    {"was", "", "was"},
    {"were", "", "were"},
    {"has", "", "has"},
    {"had", "", "had"},
    {"degree", "", "very quite too rather so almost hardly fairly"},
    {"adverb", "",
     "again soon often now never always still later today early together well fast home back once"},
    {"possessive", "", "'s"},
    {"comma", "", ","},
    {"stop", "", "."},
    {"after-verb", "", "with in for on from at into by after during near under against like before"},
    {"after-noun", "", "for in about from on with between like near against under behind"},
    {"of", "", "of"},
    {"by", "", "by"},
    {"at-place", "", "in near from at to around"},
    {"with-org", "", "for with at against from by"},
    {"with-person", "", "with for to against by from"},
    {"on-date", "", "on on on before after until since"},
    {"in-date", "", "in in in since before after by until"},
    {"at-clock", "", "at at before after"},

    // Names and dates. Some first names are also months or places.
    {"first", "",
     "Anna Jordan Tom April Clara Austin Ben June Laura Florence Max Chester Nina Oscar Paula Rufus Sara "
     "Victor Wendy Georgia Hugo Iris Jack Karen Leo Maria Nora Otto Petra Rose Simon Tessa Ursula Walter "
     "Ida May Felix Emma Dora Carl Sydney Grace Mark Bill Frank Will Pat Holly Ivy Ruby"},
    {"place", "", "Jordan Austin Florence Chester Georgia Sydney Victoria Lincoln"},
    {"company", "",
     "Jordan Lincoln Victoria Orbit Apricot Beacon Falcon Summit Harvest Meridian Compass Juniper"},
    {"initial", "", "A. J. M. S. R. B. E. K. T. W."},
    {"title", "", "Mr Dr Ms Professor Captain Judge Lady Sir"},
    {"compass", "", "North South East West New Upper Lower Old"},
    {"landmark", "", "River Street Valley Lake Bridge Hills Bay Park Castle Island"},
    {"institution", "", "Group College Institute Trust Council Company Society School"},
    {"acronym", "",
     "BTK QLM NARO UVEX DRT OLMA KFB TESU WQA PLIM GYB ZERN HOLT VMA CRIX JUNT SABO LDK EPOR MIZ"},
    {"weekday", "", "Monday Friday Sunday Tuesday Saturday Wednesday Thursday"},
    {"month", "", "May March June April August January September October July December November February"},
    {"clock", "", "10:30 9:00 7:15 8:45 12:00 6:30 11:00 3:15 2:30 4:45 5:00 1:30"},
    {"number", "", "two three four five six ten seven eight nine twelve"},
};

constexpr AffixRow kAffixes[] = {
    {"noun", "noun", "mini", ""},
    {"noun", "noun", "super", ""},
    {"noun", "adjective", "", "less"},
    {"role", "role", "ex-", ""},
    {"role", "role", "co-", ""},
    {"transitive", "transitive", "re", ""},
    {"transitive", "transitive", "over", ""},
    {"transitive", "transitive", "mis", ""},
    {"intransitive", "intransitive", "out", ""},
    {"adjective", "adjective", "un", ""},
    {"adjective", "noun", "", "ness"},
};

constexpr std::string_view kNameBeginnings =
    "Mar Brack Thorn Ald Hal Wes Kin Dor Ash Bram Cal Dun El Fen Gar Hart Ing Jas Kel Lang Mer Nor Oak "
    "Pem Quil Rad Sel Tarn Ul Ver Win Yar Zan Birch Crow Drum Ever Flint Grim Hol Ister Kirk Lud Mon "
    "Nethe Orm Pol Ridge Stan Trem Und Vel Whit Yel";

constexpr NameRow kNames[] = {
    {"family", "low well son ford man ley wick sen ers ock"},
    {"place", "ton by ford ham low well port mouth ley burgh mere"},
    {"company", "tech low son dyne via well ex ford ton"},
};

constexpr NumberRow kNumbers[] = {
    {"number", 11, 99, 1},
    {"number", 100, 950, 50},
    {"day", 1, 31, 1},
    {"year", 1951, 2024, 1},
};

}  // namespace

std::span<const TopicRow> topic_rows() { return kTopics; }
std::span<const ListRow> list_rows() { return kLists; }
std::span<const WordsRow> words_rows() { return kWords; }
std::span<const AffixRow> affix_rows() { return kAffixes; }
std::string_view name_beginnings() { return kNameBeginnings; }
std::span<const NameRow> name_rows() { return kNames; }
std::span<const NumberRow> number_rows() { return kNumbers; }

}  // namespace espalier
